"""The Dockerfile reader: lines, scopes, substitution, stages; what Docker refuses is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.resolver.readers.docker_lines import parse_lines
from rocmlock.resolver.readers.dockerfile import Dockerfile, parse_dockerfile
from rocmlock.resolver.readers.images import parse_image
from rocmlock.resolver.readers.variables import CannotExpandError, expand

FULL = r"""# syntax=docker/dockerfile:1
ARG BASE=example/dev-ubuntu-22.04:7.2.3-complete #other/image:latest
ARG ENGINE_BRANCH="0f380657" # release/2.11 as of 6/09
ARG ENGINE_REPO="https://example.org/engine.git"
ARG PY=3.12
ARG SITE=/usr/lib/python${PY}/site
ARG UNUSED

FROM ${BASE} AS base
ARG GFX=gfx90a;gfx942
ENV GFX=${GFX}
ENV ONE="1" \
    # a comment inside
    TWO='$ONE'

ENV OLD style value
ARG UNUSED
ENV CACHE=${UNUSED:+on} PATH=/opt/bin:$PATH
RUN echo a \

    # skipped
    && echo b
RUN <<END
FROM nothing
END

from base as Build
ARG ENGINE_BRANCH
ARG GFX=gfx1100
RUN --mount=type=bind,from=base,src=/x,target=/y git clone x
"""


def place(error: RocmlockError) -> tuple[str, int]:
    [problem] = error.problems
    assert problem.place is not None
    assert error.reason.reference == "pin-unreadable"
    return problem.place.file, problem.place.line


@pytest.fixture(scope="module")
def full() -> Dockerfile:
    return parse_dockerfile(FULL, "docker/Dockerfile")


def test_global_args_have_value_line_and_comment(full: Dockerfile) -> None:
    branch = full.global_scope["ENGINE_BRANCH"]
    assert (branch.value, branch.line, branch.comment) == ("0f380657", 3, "release/2.11 as of 6/09")
    assert full.global_scope["BASE"].comment == "other/image:latest"
    assert full.global_scope["SITE"].value == "/usr/lib/python3.12/site"
    assert "UNUSED" not in full.global_scope


def test_a_stage_sees_a_global_only_after_it_asks(full: Dockerfile) -> None:
    base, build = full.stages
    assert "ENGINE_BRANCH" not in base.scope_at()
    assert build.scope_at()["ENGINE_BRANCH"].line == 3
    assert "ENGINE_BRANCH" not in build.scope_at(build.line)


def test_env_wins_over_arg_and_is_inherited(full: Dockerfile) -> None:
    build = full.stages[1]
    seen = build.scope_at()["GFX"]
    # The ENV of the base is a plain copy of line 10; the ARG of line 29 changes nothing.
    assert (seen.value, seen.line, seen.keyword) == ("gfx90a;gfx942", 10, "ENV")
    assert full.args()["GFX"].value == "gfx1100"


def test_env_forms_quotes_and_what_the_image_alone_knows(full: Dockerfile) -> None:
    scope = full.stages[0].scope_at()
    assert (scope["ONE"].value, scope["ONE"].line) == ("1", 12)
    assert (scope["TWO"].value, scope["TWO"].line) == ("$ONE", 14)
    assert scope["OLD"].value == "style value"
    assert (scope["CACHE"].value, scope["CACHE"].unset) == ("", ())
    assert (scope["PATH"].value, scope["PATH"].unset) == ("/opt/bin:", ("PATH",))


def test_stages_and_images(full: Dockerfile) -> None:
    base, build = full.stages
    assert (base.name, build.name, build.base) == ("base", "build", 0)
    assert full.stage("BUILD") is build
    [(line, image)] = full.base_images()
    assert (line, image.tag, image.rocm, image.distribution) == (9, "7.2.3-complete", "", "ubuntu-22.04")


def test_continuations_skip_comments_and_heredocs_are_no_instructions(full: Dockerfile) -> None:
    runs = [one for one in full.stages[0].instructions if one.keyword == "RUN"]
    assert runs[0].body.text.split() == ["echo", "a", "&&", "echo", "b"]
    assert [runs[0].body.line_at(runs[0].body.text.index(text)) for text in ("echo a", "echo b")] == [19, 22]
    assert (runs[1].heredocs[0].body, runs[1].heredocs[0].line) == ("FROM nothing\n", 24)


@pytest.mark.parametrize(
    ("reference", "rocm", "distribution"),
    [
        ("rocm/dev-ubuntu-22.04:7.2.3-complete", "7.2.3", "ubuntu-22.04"),
        ("rocm/pytorch:rocm6.2_ubuntu20.04_py3.9_pytorch_release_2.3.0", "6.2", "ubuntu-20.04"),
        ("registry.example:5000/rocm/dev-ubuntu-24.04:7.0-complete", "7.0", "ubuntu-24.04"),
        ("rocm/vllm-dev:base", "", ""),
        ("ubuntu:22.04", "", "ubuntu-22.04"),
        ("scratch", "", ""),
    ],
)
def test_image_names(reference: str, rocm: str, distribution: str) -> None:
    image = parse_image(reference)
    assert (image.rocm, image.distribution) == (rocm, distribution)


def test_escape_directive() -> None:
    file = parse_dockerfile("# escape=`\nFROM a\nENV X=c:\\d `\n  Y=e\n", "D")
    assert [(s.name, s.value, s.line) for s in file.settings] == [("X", "c:\\d", 3), ("Y", "e", 4)]


def test_a_doubled_escape_ends_the_line() -> None:
    lines = parse_lines("FROM a\nRUN echo \\\\\nRUN b\n", "D").instructions
    assert [one.line for one in lines] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 0),
        ("# only a comment\n", 0),
        ("ARG A=1\n", 0),
        ("RUN a\nFROM b\n", 1),
        ("FROM a\nRUN x \\\n", 3),
        ("FROM a\nRUN <<E\nx\n", 2),
        ("FROM a\n    && git checkout b\n", 2),
        ("FROM a\nFETCH b\n", 2),
        ("FROM a AS\n", 1),
        ("FROM ${NO}\n", 1),
        ("FROM a\nENV X\n", 2),
        ("FROM a\nENV X=1 Y\n", 2),
        ("FROM a\nARG 1=2\n", 2),
        ("# escape=x\nFROM a\n", 1),
        ("# escape=`\n# escape=`\nFROM a\n", 2),
        ("FROM a\n<<<<<<< HEAD\nRUN b\n", 2),
        ("FROM a\nRUN \0\n", 2),
        ("<!DOCTYPE html>\n<html></html>", 1),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", 1),
    ],
)
def test_what_is_no_dockerfile_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(RocmlockError) as caught:
        parse_dockerfile(text, "docker/Dockerfile")
    assert place(caught.value) == ("docker/Dockerfile", line)


def test_values_cannot_grow_without_end() -> None:
    text = "ARG A=xxxxxxxx\n" + "ARG A=$A$A$A$A\n" * 40 + "FROM b\n"
    assert parse_dockerfile(text, "D").global_scope["A"].value is None


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("$X", "1"),
        ("${X}y", "1y"),
        ('"a b"', "a b"),
        ("'$X'", "$X"),
        ("\\$X", "$X"),
        ('"\\n\\""', '\\n"'),
        ("${E:-y}", "y"),
        ("${E-y}", ""),
        ("${N:-${X}}", "1"),
        ("${X:+${X}}z", "1z"),
        ("${E:+y}", ""),
        ("${E+y}", "y"),
        ("${X:?no}", "1"),
        ("a$", "a$"),
    ],
)
def test_expansion(word: str, value: str) -> None:
    assert expand(word, {"X": "1", "E": ""}.get)[0] == value


@pytest.mark.parametrize("word", ["${X", "${}", "${X##*/}", "${N:?no}", "${" * 40 + "X:-" + "}" * 40])
def test_forms_that_are_not_computed(word: str) -> None:
    with pytest.raises(CannotExpandError):
        expand(word, {"X": "1"}.get)


def test_an_extract_keeps_lines_apart_that_its_gaps_would_join() -> None:
    text = "FROM a AS x\nRUN git clone u \\\n\n\n    && git checkout b \\\n\nFROM x AS y\n    && git am p\n"
    file = parse_dockerfile(text, "D", extract=True)
    assert [(stage.name, stage.line) for stage in file.stages] == [("x", 1), ("y", 7)]
    with pytest.raises(RocmlockError):
        parse_dockerfile(text, "D")


names = st.sampled_from(["A", "B", "C", "D"])
literals = st.text("abcXYZ019.-/:;", max_size=6)
pieces = st.lists(st.one_of(literals, names.map(lambda name: f"${{{name}}}")), max_size=3).map("".join)
lines = st.lists(st.tuples(st.booleans(), names, st.none() | pieces), max_size=12)


@given(lines, lines, st.booleans())
def test_scopes_agree_with_a_simple_model(
    before: list[tuple[bool, str, str | None]], inside: list[tuple[bool, str, str | None]], spread: bool
) -> None:
    """ARG and ENV as two dictionaries, ENV in front; a global is seen once it is asked for."""

    def filled(text: str, scope: dict[str, str]) -> str:
        for name in "ABCD":
            text = text.replace(f"${{{name}}}", scope.get(name, ""))
        return text

    written, top = list[str](), dict[str, str]()
    for _, name, value in before:
        written.append(f"ARG {name}" if value is None else f'ARG {name}="{value}" # note')
        if value is not None:
            top[name] = filled(value, top)
    written.append("FROM image")
    args, env = dict[str, str](), dict[str, str]()
    for is_env, name, value in inside:
        joint = " \\\n  " if spread else " "
        if is_env and value is not None:
            written.append(f'ENV{joint}{name}="{value}"')
            env[name] = filled(value, args | env)
        elif value is not None:
            written.append(f'ARG{joint}{name}="{value}"')
            args[name] = filled(value, args | env)
        else:
            written.append(f"ARG {name}")
            args |= {name: top[name]} if name in top else {}
    file = parse_dockerfile("\n".join(written), "D")
    assert {name: one.value for name, one in file.global_scope.items()} == top
    assert {name: one.value for name, one in file.stages[0].scope_at().items()} == args | env


@given(st.text(st.sampled_from("ARGFOMNEVU \n\\\"'${}<=:#-&|;()[]`\0x"), max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for extract in (False, True):
        try:
            parse_dockerfile(text, "D", extract=extract)
        except RocmlockError as error:
            assert error.reason.reference == "pin-unreadable"
