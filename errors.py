"""The base error and the reasons. Imports nothing of the project; renders nothing.

An error is data: a :class:`Reason` (stable reference, exit code), one sentence, context lines, the places in
files that it is about, and what to do. The command line renders it; tests assert on the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command (docs/errors.md). The one place that maps kinds of failure to numbers."""

    FAILED = 1
    USAGE = 2
    UNSATISFIABLE = 3
    LOCK_OUT_OF_DATE = 4
    BUILD_FAILED = 5
    INTEGRITY = 6
    OFFLINE = 7
    MACHINE = 8
    NOT_REPRODUCIBLE = 9
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Reason:
    """One kind of failure: ``reference`` is kebab-case and never changes once released."""

    reference: str
    code: ExitCode
    meaning: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file. ``line`` and ``column`` count from 1; 0 means that it is not known."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One of several things wrong with one input."""

    message: str
    place: Place | None = None
    hint: str = ""


class RocmlockError(Exception):
    """What a user sees instead of a traceback.

    ``message`` is one sentence. ``context`` are further lines (facts, the tail of a log). ``problems`` are the
    single faults when an input has many. ``hint`` says what to do, with a command where there is one.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        context: Sequence[str] = (),
        problems: Sequence[Problem] = (),
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.context = tuple(context)
        self.problems = tuple(problems)
        self.hint = hint or reason.remedy


_REASONS: dict[str, Reason] = {}


def _reason(reference: str, code: ExitCode, meaning: str, remedy: str) -> Reason:
    reason = Reason(reference, code, meaning, remedy)
    _REASONS[reference] = reason
    return reason


def all_reasons() -> tuple[Reason, ...]:
    """Every reason there is, by exit code and reference: what docs/errors.md is held to."""
    return tuple(sorted(_REASONS.values(), key=lambda reason: (reason.code, reason.reference)))


# fmt: off
UNEXPECTED = _reason("unexpected", ExitCode.FAILED, "A fault of rocmlock itself.", "Please report it with the text above.")
FILE_UNREADABLE = _reason("file-unreadable", ExitCode.FAILED, "A file that is needed cannot be read.", "Check the path and its permissions.")
FILE_UNWRITABLE = _reason("file-unwritable", ExitCode.FAILED, "A file cannot be written.", "Check the folder's permissions and free space.")
UPSTREAM_UNREADABLE = _reason("upstream-unreadable", ExitCode.FAILED, "An answer from a package index or from GitHub makes no sense.", "Try again; if it persists, check the server that is configured.")
RATE_LIMITED = _reason("rate-limited", ExitCode.FAILED, "GitHub takes no more requests for now.", "Set GITHUB_TOKEN to any token of yours, or run the same command again later: what was read is kept.")
GITHUB_DENIED = _reason("github-denied", ExitCode.FAILED, "GitHub refuses to answer, with or without the token that was sent.", "Check the token that is named, and what it may read.")
REPOSITORY_MISSING = _reason("repository-missing", ExitCode.FAILED, "A repository does not exist, or it is private and no token that may read it was sent.", "Check the name, or set the token that is named.")
COMMIT_AMBIGUOUS = _reason("commit-ambiguous", ExitCode.FAILED, "A short commit does not name exactly one commit.", "Write all 40 hex digits.")
PIN_UNREADABLE = _reason("pin-unreadable", ExitCode.FAILED, "An upstream file does not say its pins in any way that is known, or not for certain.", "Pin the packages that the file is read for by commit in the manifest.")
MERGE_CONFLICT = _reason("merge-conflict", ExitCode.FAILED, "Two locks changed the same, or what does not go together.", "Take one side, then run: rocmlock resolve")
EXPORT_UNSUPPORTED = _reason("export-unsupported", ExitCode.FAILED, "The lock holds nothing, or something, that the format cannot say.", "Choose another format: rocmlock export --help")
PACKAGE_NOT_LOCKED = _reason("package-not-locked", ExitCode.FAILED, "The package asked about is not in the lock.", "rocmlock show")
NOT_REALIZED = _reason("not-realized", ExitCode.FAILED, "The environment or output asked for has not been realized on this machine.", "rocmlock realize")
COMMAND_NOT_FOUND = _reason("command-not-found", ExitCode.FAILED, "The environment has no such command.", "rocmlock run -- python -V")
SNAPSHOT_INVALID = _reason("snapshot-invalid", ExitCode.FAILED, "A snapshot of upstream facts cannot be read.", "Install rocmlock again, or name another snapshot.")
SOURCE_UNSUPPORTED = _reason("source-unsupported", ExitCode.FAILED, "This version cannot build from that kind of source yet.", "rocmlock realize --dry-run shows the plan.")
STORE_UNUSABLE = _reason("store-unusable", ExitCode.FAILED, "The store folder cannot be used.", "Choose another folder with --store DIR or ROCMLOCK_STORE.")
STORE_FULL = _reason("store-full", ExitCode.FAILED, "The disk is full or a quota is reached; nothing half-written is left in the store.", "Free some space and run the same command again.")
STORE_FORMAT = _reason("store-format", ExitCode.FAILED, "The store was made by another version of rocmlock.", "Choose another folder with --store DIR.")

USAGE = _reason("usage", ExitCode.USAGE, "The command line is not understood.", "rocmlock --help")
TARGET_UNKNOWN = _reason("target-unknown", ExitCode.USAGE, "The lock has several targets and none was named, or it has no such target.", "Name one with --target NAME or ROCMLOCK_TARGET; rocmlock show lists them.")
MANIFEST_MISSING = _reason("manifest-missing", ExitCode.USAGE, "There is no manifest at that path.", "rocmlock init")
MANIFEST_SYNTAX = _reason("manifest-syntax", ExitCode.USAGE, "The manifest is not TOML.", "Mend the line that is named.")
MANIFEST_INVALID = _reason("manifest-invalid", ExitCode.USAGE, "The manifest has faults; all of them are listed.", "Mend the places that are named; docs/formats/manifest.md describes every key.")
MANIFEST_UNSUPPORTED = _reason("manifest-unsupported", ExitCode.USAGE, "The manifest asks for something that this version cannot do yet.", "Change the line that is named.")
RECIPE_INVALID = _reason("recipe-invalid", ExitCode.USAGE, "A recipe has faults.", "Mend the places that are named.")
SOURCE_INVALID = _reason("source-invalid", ExitCode.USAGE, "A local source cannot be built as it stands.", "Mend what is named.")
REVISION_UNKNOWN = _reason("revision-unknown", ExitCode.USAGE, "A git revision in the manifest is none that is known.", "Give the full 40-hex commit as rev.")

UNSATISFIABLE = _reason("unsatisfiable", ExitCode.UNSATISFIABLE, "No set of versions meets the manifest.", "Change one of the lines that are named.")
PYTHON_UNSATISFIABLE = _reason("python-unsatisfiable", ExitCode.UNSATISFIABLE, "The Python requirements contradict each other or the chosen packages.", "Change the ranges that are named.")

LOCK_MISSING = _reason("lock-missing", ExitCode.LOCK_OUT_OF_DATE, "There is no lock at that path.", "rocmlock resolve")
LOCK_INVALID = _reason("lock-invalid", ExitCode.LOCK_OUT_OF_DATE, "The lock cannot be read.", "Restore it from version control, or remove it and run: rocmlock resolve")
LOCK_CONFLICT = _reason("lock-conflict", ExitCode.LOCK_OUT_OF_DATE, "The lock holds merge-conflict markers.", "Take one side (git checkout --ours rocmlock.lock), then run: rocmlock resolve")
LOCK_TOO_NEW = _reason("lock-too-new", ExitCode.LOCK_OUT_OF_DATE, "The lock was written in a later format.", "Update rocmlock.")
LOCK_STALE = _reason("lock-stale", ExitCode.LOCK_OUT_OF_DATE, "The lock does not satisfy the manifest.", "rocmlock resolve")
SOURCE_CHANGED = _reason("source-changed", ExitCode.LOCK_OUT_OF_DATE, "A local source is not the one that was locked.", "rocmlock resolve")

BUILD_FAILED = _reason("build-failed", ExitCode.BUILD_FAILED, "A build step failed.", "Read the log that is named.")
BUILD_NETWORK = _reason("build-network", ExitCode.BUILD_FAILED, "A build tried to reach the network; builds have none.", "Make what it fetches a locked source of the package.")
PROOF_FAILED = _reason("proof-failed", ExitCode.BUILD_FAILED, "The build's output is not what the lock asks for.", "Look at the build's arch flags in the log that is named.")
OUTPUT_INVALID = _reason("output-invalid", ExitCode.BUILD_FAILED, "A build left no usable output.", "Read the log that is named.")

HASH_MISMATCH = _reason("hash-mismatch", ExitCode.INTEGRITY, "Content does not have the hash that the lock says.", "Find out who changed it; do not use it.")
TAG_MOVED = _reason("tag-moved", ExitCode.INTEGRITY, "A tag names another commit than the lock has.", "Find out why; to take the new commit: rocmlock resolve --accept-moved-tag NAME")
STORE_CORRUPT = _reason("store-corrupt", ExitCode.INTEGRITY, "An entry of the store is damaged; it was not used.", "Remove the file that is named and run: rocmlock realize")

GITHUB_UNREACHABLE = _reason("github-unreachable", ExitCode.OFFLINE, "GitHub cannot be reached.", "Run the command again where GitHub can be reached, or answer from a snapshot: --source snapshot")
OFFLINE_MISSING = _reason("offline-missing", ExitCode.OFFLINE, "Something that is needed is neither here nor to be had.", "Run the command again where the package index can be reached.")

MACHINE_LACKS = _reason("machine-lacks", ExitCode.MACHINE, "This machine lacks what the lock needs.", "Install what is named, or realize on a machine that has it.")
SANDBOX_MISSING = _reason("sandbox-missing", ExitCode.MACHINE, "bubblewrap is not installed; nothing is built without a sandbox.", "apt-get install bubblewrap")
SANDBOX_DENIED = _reason("sandbox-denied", ExitCode.MACHINE, "This system does not let rocmlock make a sandbox; nothing is built without one.", "Allow unprivileged user namespaces.")
INTERRUPTED = _reason("interrupted", ExitCode.INTERRUPTED, "Interrupted; nothing half done is left.", "Run the same command again to go on.")
# fmt: on
