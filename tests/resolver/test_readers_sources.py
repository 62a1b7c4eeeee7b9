"""RUN lines: simple commands with lines and folders, what they do to sources, and what pins cannot say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.resolver.readers.actions import find_actions
from rocmlock.resolver.readers.docker_lines import LineText
from rocmlock.resolver.readers.dockerfile import parse_dockerfile
from rocmlock.resolver.readers.sed import CannotComputeError, apply_sed
from rocmlock.resolver.readers.shell import Command, split_script
from rocmlock.resolver.readers.source_trees import Sources, find_environment, find_sources

HEAD = 'ARG ENGINE="0f380657"\nARG URL="https://example.org/engine.git"\nFROM image AS build\nARG ENGINE\nARG URL\nWORKDIR /app\n'


def commands(script: str, **environment: str) -> list[Command]:
    return split_script(LineText(script, ((0, 1),)), "D", environment.get, "/app")


def texts(script: str, **environment: str) -> list[str]:
    return [" ".join(word.text for word in one.words) for one in commands(script, **environment) if one.words]


def sources(runs: str, *, extract: bool = False) -> Sources:
    """``runs`` begins on line 7."""
    return find_sources(parse_dockerfile(HEAD + runs, "D", extract=extract), extract=extract)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a && b; c || d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("if t; then a; elif u; then b; else c; fi", ["t", "a", "u", "b", "c"]),
        ("for i in 1 2; do a; done; while b; do c; done", ["a", "b", "c"]),
        ("case $X in a) b;; esac", ["b"]),
        ("! a; time b; (c); { d; }", ["a", "time b", "c", "d"]),
        ("a 'x && y' \"z ; w\" \\; v", ["a x && y z ; w ; v"]),
        ("a $(b \"$(c)\") `d`", ["c", 'b "$(c)"', "d", "a $(b \"$(c)\") `d`"]),
        ("bash -c 'git checkout x && y'", ["bash -c git checkout x && y", "git checkout x", "y"]),
        ("a <<E\nb && c\nE\nd", ["a", "d"]),
        ("X=1 Y=$X; a ${X}2 \"$Y 3\"", ["a 12 1 3"]),
        ("X=$(a); b $X", ["a", "b $X"]),
        ("if t; then X=1; fi; b $X", ["t", "b $X"]),
        ("(X=1); b ${X:-0}", ["b 0"]),
        ("X=1; (X=2; a $X); b $X", ["a 2", "b 1"]),
    ],
)  # fmt: skip
def test_simple_commands(script: str, expected: list[str]) -> None:
    assert texts(script) == expected


def test_words_take_the_environment_and_say_what_is_not_known() -> None:
    [command] = commands('git checkout "$A" ${B:-x} ${C}', A="1 2")
    assert [(word.text, word.known, word.variables) for word in command.words[2:]] == [
        ("1 2", True, ("A",)),
        ("x", True, ("B",)),
        ("${C}", False, ("C",)),
    ]


@pytest.mark.parametrize(
    ("script", "conditional"),
    [
        ("a && git x", False),
        ("a || git x", True),
        ("a || b && git x", True),
        ("a > f || b > g && git x", True),
        ("a; git x", False),
        ("[ -f a ] && b && git x", True),
        ("if git x; then a; fi", False),
        ("if a; then git x; fi", True),
        ("if a; then b; else git x; fi", True),
        ("for i in 1; do git x; done", True),
        ("f() { git x; }; f", True),
        ("(git x)", False),
        ("a | git x", False),
    ],
)
def test_conditional_commands(script: str, conditional: bool) -> None:
    assert [one.conditional for one in commands(script) if one.name == "git"] == [conditional]


@pytest.mark.parametrize(
    ("script", "folder"),
    [
        ("cd a && git x", "/app/a"),
        ("cd a/../b; cd /c; git x", "/c"),
        ("(cd a); git x", "/app"),
        ("if t; then cd a; fi; git x", "/app"),
        ("cd $X; git x", None),
        ("cd a | b; git x", "/app"),
        ("cd a > /dev/null && git x", "/app/a"),
    ],
)
def test_folders(script: str, folder: str | None) -> None:
    assert [one.folder for one in commands(script) if one.name == "git"] == [folder]


def test_a_long_chain_with_redirects_is_no_deep_nesting() -> None:
    script = " && ".join(f"echo {at} >> /versions" for at in range(400)) + " && git am < p"
    found = commands(script)
    assert len(found) == 401
    assert found[-1].redirects[0][1].text == "p"


def test_what_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(RocmlockError):
        commands("(" * 300 + "git x" + ")" * 300)


def test_a_pin_with_picks() -> None:
    [tree] = sources(
        "RUN git clone ${URL}\n"
        "# why\n"
        "RUN cd engine \\\n"
        "    && git checkout ${ENGINE} \\\n"
        "    # and two more\n"
        '    && git config user.email "you@example.org" \\\n'
        "    && git cherry-pick -x 555d04f dd998b6 \\\n"
        "    && if [ ! -f setup.py ]; then cd python; fi \\\n"
        "    && git submodule update --init --recursive\n"
    ).trees
    assert (tree.stage, tree.url, tree.url_variables, tree.line) == (
        "build",
        "https://example.org/engine.git",
        ("URL",),
        7,
    )
    assert tree.ref is not None
    assert (tree.ref.value, tree.ref.line, tree.ref.variables) == ("0f380657", 10, ("ENGINE",))
    assert [(pick.value, pick.line) for pick in tree.picks] == [("555d04f", 13), ("dd998b6", 13)]
    assert not tree.unsaid


@pytest.mark.parametrize(
    ("run", "kind", "line"),
    [
        ("RUN cd engine/third_party/part && git checkout 2d73be3", "checkout", 8),
        ("RUN cd engine && git apply -p1 --verbose /tmp/a.patch", "patch", 8),
        ("RUN cd engine && curl -L https://example.org/1.patch | git am", "patch", 8),
        ("RUN cd engine \\\n && patch -p1 < /tmp/a.patch", "patch", 9),
        ("RUN git -C engine revert --no-edit 1234567", "revert", 8),
        ("RUN cd engine && git reset --hard 1234567", "reset", 8),
        ("RUN cd engine && git merge origin/other", "merge", 8),
        ("RUN cd engine && git pull", "pull", 8),
        ("RUN sed -i 's/a/b/' engine/setup.py", "edit", 8),
        ("RUN cd engine && echo x >> setup.py", "edit", 8),
        ("RUN cd engine && git checkout main -- setup.py", "edit", 8),
        ("COPY fixes/ engine/", "edit", 8),
        ("RUN cd engine && [ -f x ] && git cherry-pick 1234567", "cherry-pick", 8),
        ("RUN cd engine && git cherry-pick a1b2c3d..d4e5f6a", "cherry-pick", 8),
        ("RUN cd engine && git cherry-pick $UNKNOWN", "cherry-pick", 8),
        ("RUN cd engine && git checkout main || git checkout master", "checkout", 8),
        ("RUN cd engine && git submodule update --remote", "submodule", 8),
        ("RUN cd engine && git filter-branch x", "other", 8),
        (
            "RUN cd engine && git fetch https://example.org/fork.git b && git checkout FETCH_HEAD",
            "checkout",
            8,
        ),
        ("RUN <<E\ncd engine\ngit am x\nE", "patch", 10),
        ('RUN ["git", "-C", "/app/engine", "am", "x"]', "patch", 8),
    ],
)
def test_what_pins_and_picks_cannot_say_is_named_with_its_line(run: str, kind: str, line: int) -> None:
    [tree] = sources(f"RUN git clone $URL\n{run}\n").trees
    assert [(action.kind, action.line) for action in tree.unsaid] == [(kind, line)]


@pytest.mark.parametrize(
    "run",
    [
        "RUN cd engine && git log && git describe --tags && git commit -m x",
        "RUN sed -i 's/a/b/' /etc/apt/sources.list && echo x > /tmp/y && echo y > /dev/null",
        "RUN git -C engine submodule update --init && git -C engine checkout -b work",
        "COPY fixes/ /elsewhere/",
    ],
)
def test_what_changes_no_source_is_no_matter(run: str) -> None:
    found = sources(f"RUN git clone $URL\n{run}\n")
    assert not found.trees[0].unsaid
    assert not found.stray


def test_other_ways_to_name_a_commit() -> None:
    found = sources(
        "RUN git clone --recursive --branch ${ENGINE} ${URL} one\n"
        "RUN mkdir two && cd two && git init && git remote add origin $URL \\\n"
        "    && git fetch --depth 1 origin ${ENGINE} && git checkout -q FETCH_HEAD\n"
        "RUN git clone git@example.org:a/three.git && cd three && git fetch origin pull/12/head:pr && git checkout pr\n"
        "ADD https://example.org/four.git#v4 /four\n"
        "RUN cd /app/three && git remote add fork https://example.org/fork && git fetch fork && git cherry-pick 7654321\n"
    )
    assert [(tree.ref.value, tree.ref.line) for tree in found.trees if tree.ref] == [
        ("0f380657", 7),
        ("0f380657", 9),
        ("pull/12/head", 10),
        ("v4", 11),
    ]
    assert found.trees[2].remotes == ("https://example.org/fork",)
    assert [pick.value for pick in found.trees[2].picks] == ["7654321"]


def test_a_checkout_discards_the_picks_before_it() -> None:
    [tree] = sources("RUN git clone $URL && cd engine && git cherry-pick 1234567 && git checkout v2\n").trees
    assert tree.ref is not None
    assert (tree.ref.value, tree.picks) == ("v2", ())


def test_a_stage_goes_on_with_the_clones_of_its_base() -> None:
    found = sources(
        "RUN git clone $URL\nFROM build AS next\nRUN cd engine && git checkout v3\nFROM image\nRUN git checkout v4\n"
    )
    assert [tree.ref.value for tree in found.trees if tree.ref] == ["v3"]
    assert [(action.stage, action.line) for action in found.stray] == [("", 11)]


def test_an_extract_lost_the_folder() -> None:
    runs = (
        "RUN git clone ${URL}\n\n\n    && git checkout ${ENGINE} \\\n\n    && git cherry-pick 555d04f \\\n\n\n"
        "    && git fetch rocm && git checkout 2d73be3\nRUN if [ -d x ]; then cd x \\\n\n"
    )
    [tree] = sources(runs, extract=True).trees
    assert tree.ref is not None
    assert (tree.ref.value, tree.ref.line) == ("0f380657", 10)
    assert [(pick.value, pick.line) for pick in tree.picks] == [("555d04f", 12)]
    assert [action.line for action in tree.unsaid] == [15]


def test_shell_text_that_changes_sources_and_cannot_be_read_is_refused() -> None:
    with pytest.raises(RocmlockError) as caught:
        find_actions(parse_dockerfile(HEAD + "RUN cd x \\\n && git am ) y\n", "D"))
    [problem] = caught.value.problems
    assert (caught.value.reason.reference, str(problem.place)) == ("pin-unreadable", "D:8")


def test_an_arch_list_that_sed_edits_is_computed() -> None:
    text = HEAD.replace("WORKDIR", "ARG GFX=gfx90a;gfx942;gfx1100;gfx1201\nWORKDIR") + (
        "RUN cd x \\\n"
        "  && GPU_ARCHS=$(echo ${GFX} | sed -e 's/;gfx1[0-9]\\{3\\}//g') python3 setup.py\n"
        "RUN GPU_ARCHS=\"$(echo $GFX | sed 's/gfx/x/' | tr ';' ' ')\" make\n"
        "RUN GPU_ARCHS=$(offload-arch) make && export GPU_ARCHS=gfx942\n"
        "RUN GPU_ARCHS=$(echo $GFX | sed 's/\\(a\\)/\\1/') make\n"
    )
    found = find_environment(parse_dockerfile(text, "D"), ["GPU_ARCHS"])
    assert [(one.value, one.line, bool(one.problem)) for one in found] == [
        ("gfx90a;gfx942", 9, False),
        ("x90a gfx942 gfx1100 gfx1201", 10, False),
        (None, 11, True),
        ("gfx942", 11, False),
        (None, 12, True),
    ]
    assert (found[0].original, found[0].variables) == ("gfx90a;gfx942;gfx1100;gfx1201", ("GFX",))


@pytest.mark.parametrize(
    ("arguments", "text", "expected"),
    [
        (["s/a/b/"], "aa", "ba"),
        (["-E", "s/a{2}//g"], "aaab", "ab"),
        (["s|/x|-|g"], "/x/x", "--"),
        (["s/a.c//;s/^b/c/"], "abcb", "c"),
        (["s/[^;]*942;*//"], "gfx90a;gfx942", "gfx90a;"),
        (["s/a+//"], "a+b", "b"),
        (["s/\\.//g"], "a.b", "ab"),
    ],
)
def test_sed(arguments: list[str], text: str, expected: str) -> None:
    assert apply_sed(arguments, text) == expected


@pytest.mark.parametrize(
    "script",
    ["s/\\(a\\)/\\1/", "s/a/&&/", "s/a/b/e", "s/a*//g", "/a/d", "y/a/b/", "s/a/b", "s/\\a/b/", "s/[[:digit:]]//", "s/a/b/ p", "s/a\\/b/c/"],
)  # fmt: skip
def test_sed_beyond_the_subset_is_not_guessed(script: str) -> None:
    with pytest.raises(CannotComputeError):
        apply_sed([script], "a1")


tokens = st.sampled_from(
    ["git", "clone", "checkout", "sed", "-i", "a", "x y", "'", '"', "$(", ")", "`", "\\", "\n", ";", "&&", "||", "|", "(", "{", "}", "if", "then",
     "fi", "for", "do", "done", "case", "esac", "<<E", "<", ">", "$X", "${X:-", "[", "]", "é", "\ud800", "#", "cd", "!", "=", "X=1"]
)  # fmt: skip


@given(st.lists(tokens, max_size=25), st.booleans())
def test_any_script_is_split_or_refused(parts: list[str], extract: bool) -> None:
    script = " ".join(parts)
    try:
        found = split_script(LineText(script, ((0, 3),)), "D", {"X": "1"}.get, "/a", extract=extract)
    except RocmlockError as error:
        assert not extract
        assert error.reason.reference == "pin-unreadable"
    else:
        assert all(one.line == 3 for one in found)


@given(st.lists(st.sampled_from(["a", "git x", "cd y", "b 'q; r'", 'c "$(d)"']), min_size=1, max_size=12))
def test_each_line_of_a_chain_keeps_its_number(parts: list[str]) -> None:
    text = "FROM i\nRUN " + " \\\n  && ".join(parts) + "\n"
    [stage] = parse_dockerfile(text, "D").stages
    body = stage.instructions[0].body
    found = split_script(body, "D", {}.get, "/")
    lines = [one.line for one in found if not (one.words and one.words[0].text == "d")]
    assert lines == list(range(2, 2 + len(parts)))
