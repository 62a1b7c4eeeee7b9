"""Tested sets of vLLM: one per release and base Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from packaging.requirements import Requirement

from rocmlock.gfx import sort_targets

from .commits import Asked, Comment
from .facts import Facts
from .origins import Json, Origin
from .raw import RawFiles

REPOSITORY = "vllm-project/vllm"
# The last one is all that releases before 0.7 have: it names no source of PyTorch, so it can't be chosen.
_VARIANTS = ("dockerfile_rocm_base", "dockerfile_rocm_72_base", "dockerfile_rock_base", "dockerfile_rocm")
# Package -> (ARG of its commit, ARG of its repository, ARG of a wheel version in its place).
_PACKAGES = {
    "pytorch": ("PYTORCH_BRANCH", "PYTORCH_REPO", "TORCH_VERSION"),
    "triton": ("TRITON_BRANCH", "TRITON_REPO", "TRITON_VERSION"),
    "torchvision": ("PYTORCH_VISION_BRANCH", "PYTORCH_VISION_REPO", "TORCHVISION_VERSION"),
    "torchaudio": ("PYTORCH_AUDIO_BRANCH", "PYTORCH_AUDIO_REPO", "TORCHAUDIO_VERSION"),
    "flash-attention": ("FA_BRANCH", "FA_REPO", ""),
    "aiter": ("AITER_BRANCH", "AITER_REPO", ""),
    "mori": ("MORI_BRANCH", "MORI_REPO", ""),
    "rccl": ("RCCL_BRANCH", "RCCL_REPO", ""),
    "rixl": ("RIXL_BRANCH", "RIXL_REPO", ""),
    "ucx": ("UCX_BRANCH", "UCX_REPO", ""),
    "etcd-cpp-apiv3": ("ETCD_BRANCH", "ETCD_REPO", ""),
    "rocm-runtime": ("ROCM_RUNTIME_COMMIT", "ROCM_SYSTEMS_REPO", ""),
}
_STAGES = {
    "triton": "build_triton",
    "pytorch": "build_pytorch",
    "flash-attention": "build_fa",
    "aiter": "build_aiter",
    "mori": "build_mori",
}
_NAMES = {"torch": "pytorch", "torchvision": "torchvision", "torchaudio": "torchaudio", "triton": "triton"}
_RUN = ("requirements/rocm.txt", "requirements-rocm.txt")
_BUILD = ("requirements/build/rocm.txt", "requirements/rocm-build.txt")


def make_vllm_sets(facts: Facts) -> list[Json]:
    """Newest release first; of one release the plain ROCm image first."""
    rows = {row["tag"]: row for row in facts.vllm}
    return [
        _Maker(facts, rows[tag["tag"]], variant).make()
        for tag in facts.tags(REPOSITORY)
        for variant in _variants(rows.get(tag["tag"], {}))
    ]


def _variants(release: Json) -> list[str]:
    found = [name for name in _VARIANTS if name in release]
    return found[:-1] if found[-1:] == [_VARIANTS[-1]] and len(found) > 1 else found


def find_asked(facts: Facts) -> dict[Asked, Comment]:
    """Everything that the Dockerfiles ask for, picks included, with the comment beside its newest ARG."""
    asked: dict[Asked, Comment] = {}
    for release in facts.vllm:
        for variant in _variants(release):
            dockerfile = release[variant]
            args, comments = dockerfile["args"], dockerfile.get("arg_comments", {})
            raw = RawFiles(facts.folder / "raw" / REPOSITORY / release["tag"])
            for package, (branch, repo, _) in _PACKAGES.items():
                if branch not in args or repo not in args:
                    continue
                repository = _repository(args[repo])
                text = comments.get(branch, "")
                comment = Comment(text, f'vLLM {release["tag"]} {dockerfile["path"]}: "{text}"')
                asked.setdefault((repository, args[branch], branch), comment)
                for stage, commit, _ in raw.picks(dockerfile["path"]):
                    if stage == _STAGES.get(package):
                        asked.setdefault((repository, commit, f"cherry-pick in {stage}"), Comment())
    return asked


def _repository(url: str) -> str:
    return re.sub(r"^https://github\.com/|(\.git)?/?$", "", url)


class _Maker:
    """One set. Its ``file`` is the Dockerfile: origins in it are written as bare line numbers."""

    def __init__(self, facts: Facts, release: Json, variant: str) -> None:
        self.facts, self.release, self.args = facts, release, release[variant]["args"]
        self.path: str = release[variant]["path"]
        self.variant = variant.removeprefix("dockerfile_")
        self.raw = RawFiles(facts.folder / "raw" / REPOSITORY / release["tag"])

    def make(self) -> Json:
        archs = [arch for arch in self.args.get("PYTORCH_ROCM_ARCH", "").split(";") if arch]
        made: Json = {
            "tag": self.release["tag"],
            "variant": self.variant,
            "file": self.path,
            "rocm": self._rocm(),
            "python": self._arg("PYTHON_VERSION"),
            "gfx": [" ".join(sort_targets(archs)), self._at("PYTORCH_ROCM_ARCH")] if archs else None,
            "pins": [pin for name in _PACKAGES if (pin := self._pin(name)) is not None],
            "statements": list(self._statements()),
            **self._limits(),
            **self._requirements(),
            "unread": list(self._unread()),
        }
        return {key: value for key, value in made.items() if value or key == "pins"}

    def _at(self, name: str) -> Origin:
        return self.raw.find_arg(self.path, name, self.args[name])

    def _arg(self, name: str) -> list[Any] | None:
        return [self.args[name], self._at(name)] if self.args.get(name) else None

    def _rocm(self) -> list[Any] | None:
        if "ROCM_SDK_VERSION" in self.args:
            return self._arg("ROCM_SDK_VERSION")
        image = re.search(r":(?:rocm)?(\d+(?:\.\d+)+)[-_]", self.args.get("BASE_IMAGE", ""))
        return [image[1], self._at("BASE_IMAGE")] if image else None

    def _pin(self, package: str) -> list[Any] | None:
        """[package, repository, asked, origin, picks]; a wheel has no repository."""
        branch, repo, wheel = _PACKAGES[package]
        if branch in self.args and repo in self.args:
            pin = [package, _repository(self.args[repo]), self.args[branch], self._at(branch)]
            picks = [
                [asked, line]
                for stage, asked, line in self.raw.picks(self.path)
                if stage == _STAGES.get(package)
            ]
            return [*pin, {"picks": picks}] if picks else pin
        if wheel in self.args:
            return [package, None, self.args[wheel], self._at(wheel)]
        return None

    def _statements(self) -> Iterator[list[Any]]:
        supported = self.release.get("torch_supported_version_rocm")
        if supported:
            line = self.raw.find_set("TORCH_SUPPORTED_VERSION_ROCM")
            yield ["pytorch", f"=={supported}", ["CMakeLists.txt", line]]
        for name, package in _NAMES.items():
            stated = self.release["rocm_requirements"].get(name)
            if stated:
                line = self.raw.find_requirement(stated["file"], name)
                yield [package, f"=={stated['version']}", [stated["file"], line]]

    def _limits(self) -> Json:
        def at(name: str) -> Origin:
            return ["CMakeLists.txt", self.raw.find_set(name)]

        made: Json = {}
        if archs := self.release.get("hip_supported_archs"):
            made["supported-gfx"] = [" ".join(sort_targets(archs)), at("HIP_SUPPORTED_ARCHS")]
        if pythons := self.release.get("python_supported_versions"):
            made["supported-python"] = [" ".join(pythons), at("PYTHON_SUPPORTED_VERSIONS")]
        if standard := self.release.get("cxx_standard"):
            made["cxx-standard"] = [str(standard), at("CMAKE_CXX_STANDARD")]
        return made

    def _requirements(self) -> Json:
        """Run: the file and what it includes. Build: the file itself, and what pyproject.toml asks for."""
        run = next((path for path in _RUN if self.raw.has(path)), "")
        if not run:
            return {}
        build = next((path for path in _BUILD if self.raw.has(path)), "")
        lines = self.raw.requirements(build, follow=False) if build else {}
        for text in self.release.get("build_system_requires", ()):
            if Requirement(text).name not in _NAMES:
                line = self.raw.find_build_requirement(text)
                lines.setdefault("pyproject.toml", []).append(f"{line} {Requirement(text)}")
        return {"requires-run": self.raw.requirements(run, follow=True), "requires-build": lines}

    def _unread(self) -> Iterator[str]:
        if not self.raw.has(self.path):
            yield f"the RUN lines of {self.path}"
        if not any(self.raw.has(path) for path in _RUN):
            yield "the requirement files"
        for stage, commit, line in self.raw.checkouts(self.path):
            if stage in _STAGES.values():
                yield f"what the checkout of {commit} in {self.path}:{line} changes"
