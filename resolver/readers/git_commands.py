"""What git commands on a command line say: the verb, its operands and its options with values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .shell_words import Word

_BEFORE_VERB = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"})
# By verb, the options that take the next word as their value.
_VALUES = {
    "clone": "-b --branch -o --origin -u --depth -j --jobs --filter -c --config --reference --template "
    "--separate-git-dir --shallow-since --shallow-exclude --upload-pack --server-option --bundle-uri "
    "--revision",
    "fetch": "--depth --deepen --filter -j --jobs -o --server-option --shallow-since --upload-pack --refmap",
    "pull": "--depth -X --strategy-option -s --strategy --filter",
    "checkout": "-b -B --orphan --conflict",
    "switch": "-c -C --create --force-create --orphan",
    "cherry-pick": "-m --mainline -X --strategy-option --strategy -S",
    "revert": "-m --mainline -X --strategy-option --strategy -S",
    "merge": "-m -F -X --strategy-option -s --strategy --into-name",
    "rebase": "--onto -X --strategy-option -s --strategy -x --exec",
    "apply": "-p -C --directory --exclude --include --whitespace",
    "am": "-p -C --directory --exclude --include --whitespace",
    "submodule": "--depth -j --jobs --reference -b --branch --filter --name",
    "remote": "-t -m --mirror",
    "commit": "-m -F --author --date -C -c",
}


@dataclass(frozen=True, slots=True)
class GitCommand:
    """``operands`` are the words that are neither options nor their values; ``paths`` are those behind
    ``--``.
    """

    verb: str
    operands: tuple[Word, ...]
    options: dict[str, Word]
    folder: str
    """Of ``-C``; empty for the current one."""
    paths: tuple[Word, ...]


def parse_git(words: Sequence[Word]) -> GitCommand | None:
    """Take ``git …`` apart; None where no verb follows. An option given twice keeps its last value."""
    at, folder = 1, ""
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text in _BEFORE_VERB:
            if words[at].text == "-C" and at + 1 < len(words):
                folder = words[at + 1].text
            at += 1
        at += 1
    if at >= len(words):
        return None
    verb = words[at].text
    valued = frozenset(_VALUES.get(verb, "").split())
    operands, options, paths = list[Word](), dict[str, Word](), tuple[Word, ...]()
    at += 1
    while at < len(words):
        word = words[at]
        if word.text == "--":
            paths = tuple(words[at + 1 :])
            break
        if word.text in valued and at + 1 < len(words):
            options[word.text] = words[at + 1]
            at += 1
        elif word.text.startswith("-") and word.text != "-":
            name, equals, value = word.text.partition("=")
            options[name] = Word(value, word.known, word.variables) if equals else Word("")
        else:
            operands.append(word)
        at += 1
    return GitCommand(verb, tuple(operands), options, folder, paths)
