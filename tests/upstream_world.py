"""What upstream's repositories hold, made from the facts of a catalog: files in which each fact stands on its line.

The files are complete for their readers (a Dockerfile that Docker would take, a CMakeLists.txt, requirement
files), but hold nothing beside the facts. So a live catalog that reads them must find what the catalog has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePosixPath

from support import github

from rocmlock.resolver.catalog import Catalog, Origin, Pin, Release, TestedSet
from rocmlock.resolver.recipe import Recipe, Tested


@dataclass
class _Repository:
    """Releases by tag, and files by commit and path."""

    tags: dict[str, Release] = field(default_factory=dict[str, Release])
    files: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def add_file(self, commit: str, path: str, text: str) -> None:
        self.files.setdefault(commit, {})[path] = text

    def made(self) -> github.Repository:
        tags = [each for each in self.tags.values() if each.commit]
        return github.Repository(
            tags=tuple(github.Tag(each.tag, each.commit or "", each.tag_object) for each in tags),
            releases=tuple(
                github.Release(each.tag, each.date or date(2026, 1, 1), each.prerelease) for each in tags
            ),
            commits={
                commit: github.Commit(date(2026, 1, 1), dict(self.files.get(commit, {})))
                for commit in (*self.files, *(each.commit or "" for each in tags))
                if commit
            },
        )


class Page:
    """A text whose lines are given by number; what is in no place goes to the first free line from one on."""

    def __init__(self) -> None:
        self.lines: dict[int, str] = {}

    def put(self, line: int, text: str) -> None:
        assert line not in self.lines or self.lines[line] == text, (line, text, self.lines[line])
        self.lines[line] = text

    def put_free(self, text: str, after: int = 0) -> int:
        line = after + 1
        while line in self.lines:
            line += 1
        self.lines[line] = text
        return line

    def render(self) -> str:
        last = max(self.lines, default=0)
        return "\n".join(self.lines.get(line, "") for line in range(1, last + 1)) + "\n"


def make_world(catalog: Catalog, recipes: Mapping[str, Recipe]) -> github.World:
    """PyTorch, Triton, vLLM, and every repository that vLLM's whole sets name."""
    world: dict[str, _Repository] = {}
    for release in catalog.candidates("vllm"):
        home = world.setdefault(release.repository, _Repository())
        if release.commit is None:
            continue
        home.tags[release.tag] = release
        sets = catalog.tested_sets("vllm", release)
        if not any(tested.unread for tested in sets):
            _add_release(home, recipes, release, sets)
            for tested in sets:
                for pin in tested.pins:
                    _add_pin(world, recipes, catalog.expand(pin))
    for release in catalog.candidates("pytorch"):
        home = world.setdefault(release.repository, _Repository())
        home.tags[release.tag] = release
        _add_pytorch(home, release, catalog.tested_sets("pytorch", release))
    for release in catalog.candidates("triton"):
        home = world.setdefault(release.repository, _Repository())
        home.tags[release.tag] = release
        home.add_file(
            release.commit or "", "python/triton/__init__.py", f'__version__ = "{release.version}"\n'
        )
    return github.World({name: home.made() for name, home in world.items()})


def _add_pytorch(home: _Repository, release: Release, sets: tuple[TestedSet, ...]) -> None:
    """The files that hold PyTorch's pin of Triton, and what its binaries are built for."""
    commit = release.commit or ""
    home.add_file(commit, "version.txt", f"{release.version}\n")
    rocm = [tested.rocm.value for tested in reversed(sets) if tested.rocm]
    pythons = list(sets[0].supported_python) if sets else []
    if rocm and pythons:
        matrix = f"ROCM_ARCHES = {rocm!r}\n\nFULL_PYTHON_VERSIONS = {pythons!r}\n"
        home.add_file(commit, ".github/scripts/generate_binary_build_matrix.py", matrix)
    if sets and sets[0].cxx_standard:
        line = f"set(CMAKE_CXX_STANDARD {sets[0].cxx_standard.value})\n"
        home.add_file(commit, "CMakeLists.txt", line)
    pin = next((pin for tested in sets for pin in tested.pins if pin.package == "triton"), None)
    if pin and pin.commit:
        home.add_file(commit, ".ci/docker/ci_commit_pins/triton.txt", f"{pin.commit}\n")
        if pin.version:
            home.add_file(commit, ".ci/docker/triton_version.txt", f"{pin.version.value}\n")


def _add_release(
    home: _Repository, recipes: Mapping[str, Recipe], release: Release, sets: tuple[TestedSet, ...]
) -> None:
    commit = release.commit or ""
    for tested in sets:
        layout = next(each for each in recipes[tested.top].tested if each.variant == tested.variant)
        path = next(pin.origin.path for pin in tested.pins)
        home.add_file(commit, path, render_dockerfile(tested, layout))
    home.add_file(commit, "CMakeLists.txt", _cmake(sets[0]))
    pages = _requirements(sets[0])
    for path, page in pages.items():
        home.add_file(commit, path, page.render())


def _add_pin(world: dict[str, _Repository], recipes: Mapping[str, Recipe], pin: Pin) -> None:
    if pin.wheel is not None or pin.commit is None:
        return
    home = world.setdefault(pin.repository, _Repository())
    home.files.setdefault(pin.commit, {})
    if pin.tag:
        version = pin.version.value if pin.version else ""
        origin = Origin("here")
        home.tags.setdefault(
            pin.tag,
            Release(
                pin.repository,
                pin.tag,
                version,
                pin.commit,
                pin.tag_object,
                None,
                prerelease=False,
                origin=origin,
            ),
        )
    for pick in pin.picks:
        # GitHub finds a commit of the whole network of forks in each of them.
        home.files.setdefault(pick.commit or "", {})
    recipe = recipes.get(pin.package)
    read = next((each for each in recipe.reads if each.fact == "version"), None) if recipe else None
    if read and pin.version:
        text = f'{read.name} = "{pin.version.value}"\n' if read.name else f"{pin.version.value}\n"
        home.add_file(pin.commit, read.paths[0], text)


def render_dockerfile(tested: TestedSet, layout: Tested) -> str:
    """A Dockerfile that builds each pin in a stage of its own; the picks stand on their lines."""
    page = Page()
    if tested.rocm:
        image = f"ARG BASE_IMAGE=rocm/dev-ubuntu-22.04:{tested.rocm.value}-complete"
        sdk = f"ARG ROCM_SDK_VERSION={tested.rocm.value}"
        page.put(tested.rocm.origin.line, sdk if tested.rocm.origin.line > 1 else image)
    if tested.python:
        page.put(tested.python.origin.line, f"ARG {layout.python}={tested.python.value}")
    if tested.gfx_origin:
        page.put(tested.gfx_origin.line, f"ARG {layout.gfx}={';'.join(tested.gfx)}")
    pins = [pin for pin in tested.pins if pin.package in layout.pins]
    for pin in pins:
        names = layout.pins[pin.package]
        name = names.wheel if pin.wheel is not None else names.commit
        page.put(pin.origin.line, f'ARG {name}="{pin.asked}" # as of today')
    # Below what is fixed, so that nothing is pushed between a line and the next.
    for pin in pins:
        names = layout.pins[pin.package]
        if pin.wheel is None:
            page.put_free(f'ARG {names.repository}="https://github.com/{pin.repository}.git"')
    last = max(pin.origin.line for pin in pins)
    start = page.put_free("FROM ubuntu:22.04 AS base", after=last)
    for pin in sorted(
        (pin for pin in pins if pin.wheel is None), key=lambda pin: bool(pin.picks), reverse=True
    ):
        _put_stage(page, pin, layout, start)
    return page.render()


def _put_stage(page: Page, pin: Pin, layout: Tested, start: int) -> None:
    names = layout.pins[pin.package]
    lines = [
        f"FROM base AS build_{pin.package}",
        f"ARG {names.commit}",
        f"ARG {names.repository}",
        f"RUN git clone ${{{names.repository}}} src",
    ]
    if not pin.picks:
        last = max(page.lines)
        for number, line in enumerate([*lines, f"RUN cd src && git checkout ${{{names.commit}}}"], last + 1):
            page.put(number, line)
        return
    first = min(pick.origin.line for pick in pin.picks)
    for number, line in enumerate(
        [*lines, "RUN cd src \\", f"    && git checkout ${{{names.commit}}} \\"], first - 6
    ):
        page.put(number, line)
    end = max(pick.origin.line for pick in pin.picks)
    by_line: dict[int, list[str]] = {}
    for pick in pin.picks:
        by_line.setdefault(pick.origin.line, []).append(pick.asked)
    for number in range(first, end + 1):
        words = f"git cherry-pick {' '.join(by_line[number])}" if number in by_line else "true"
        page.put(number, f"    && {words}{' ' + chr(92) if number < end else ''}")


def _cmake(tested: TestedSet) -> str:
    page = Page()
    if tested.cxx_standard:
        page.put(tested.cxx_standard.origin.line, f"set(CMAKE_CXX_STANDARD {tested.cxx_standard.value})")
    if tested.supported_python_origin:
        words = " ".join(f'"{name}"' for name in tested.supported_python)
        page.put(tested.supported_python_origin.line, f"set(PYTHON_SUPPORTED_VERSIONS {words})")
    if tested.supported_gfx_origin:
        page.put(
            tested.supported_gfx_origin.line, f'set(HIP_SUPPORTED_ARCHS "{";".join(tested.supported_gfx)}")'
        )
    for statement in tested.statements:
        if statement.origin.path == "CMakeLists.txt":
            version = statement.specifier.removeprefix("==")
            page.put(statement.origin.line, f'set(TORCH_SUPPORTED_VERSION_ROCM "{version}")')
    return page.render()


def _requirements(tested: TestedSet) -> dict[str, Page]:
    pages: dict[str, Page] = {}
    for line in (*(tested.requires_run or ()), *(tested.requires_build or ())):
        page = pages.setdefault(line.origin.path, Page())
        text = (
            f'    "{line.text.replace(chr(34), chr(39))}",'
            if line.origin.path == "pyproject.toml"
            else line.text
        )
        page.put(line.origin.line, text)
    if project := pages.get("pyproject.toml"):
        first, last = min(project.lines), max(project.lines)
        project.put(first - 1, "requires = [")
        project.put(first - 2 if first > 2 else last + 2, "[build-system]")
        project.put(last + 1, "]")
    run = [line.origin.path for line in tested.requires_run or ()]
    for path in dict.fromkeys(run):
        including = next((each for each in dict.fromkeys(run) if "rocm" in each), None)
        if including and path != including:
            relative = PurePosixPath(path).relative_to(PurePosixPath(including).parent)
            pages[including].put_free(f"-r {relative}")
    return pages
