"""Tested sets of vLLM: one per release and base Dockerfile."""

from __future__ import annotations

import re
from typing import Any

from .facts import Facts, Json, Origin, origin
from .raw import RawFiles

_VARIANTS = ("dockerfile_rocm_base", "dockerfile_rocm_72_base", "dockerfile_rock_base")
# Package -> (ARG of its commit, ARG of its repository, ARG of a wheel version in its place).
_PACKAGES = {
    "pytorch": ("PYTORCH_BRANCH", "PYTORCH_REPO", "TORCH_VERSION"),
    "triton": ("TRITON_BRANCH", "TRITON_REPO", "TRITON_VERSION"),
    "torchvision": ("PYTORCH_VISION_BRANCH", "PYTORCH_VISION_REPO", "TORCHVISION_VERSION"),
    "torchaudio": ("PYTORCH_AUDIO_BRANCH", "PYTORCH_AUDIO_REPO", "TORCHAUDIO_VERSION"),
    "flash-attention": ("FA_BRANCH", "FA_REPO", ""),
    "aiter": ("AITER_BRANCH", "AITER_REPO", ""),
    "mori": ("MORI_BRANCH", "MORI_REPO", ""),
}
_STAGES = {"build_triton": "triton", "build_pytorch": "pytorch", "build_fa": "flash-attention"}
_NAMES = {"torch": "pytorch", "torchvision": "torchvision", "torchaudio": "torchaudio", "triton": "triton"}
_REPOSITORY = "vllm-project/vllm"


def make_vllm_sets(facts: Facts) -> list[Json]:
    """Newest release first, as the data has them."""
    return [
        _Maker(facts, release, release[key], key).make()
        for release in facts.vllm["releases"]
        for key in _VARIANTS
        if key in release
    ]


class _Maker:
    def __init__(self, facts: Facts, release: Json, dockerfile: Json, variant: str) -> None:
        self.facts, self.release, self.args = facts, release, dockerfile["args"]
        self.path: str = dockerfile["path"]
        self.variant = variant.removeprefix("dockerfile_")
        self.raw = RawFiles(facts.folder / "raw" / _REPOSITORY / release["tag"])
        commit = release["commit"]
        self.where = f"vllm@{commit}" if commit else f"vllm {release['tag']}"

    def make(self) -> Json:
        made: Json = {
            "tag": self.release["tag"],
            "variant": self.variant,
            "rocm": self._rocm(),
            "python": self._arg("PYTHON_VERSION"),
            "gfx": self.args.get("PYTORCH_ROCM_ARCH", "").split(";"),
            "gfx-origin": self._at("PYTORCH_ROCM_ARCH"),
            "pins": [pin for name in _PACKAGES if (pin := self._pin(name)) is not None],
            "statements": self._statements(),
            "unread": self._unread(),
        }
        made |= self._limits()
        made |= self._requirements()
        return {key: value for key, value in made.items() if value not in (None, [], [""])}

    def _at(self, name: str) -> Origin:
        return origin(self.where, self.path, self.raw.find_arg(self.path, name))

    def _arg(self, name: str) -> list[Any] | None:
        value = self.args.get(name)
        return [value, self._at(name)] if value else None

    def _rocm(self) -> list[Any] | None:
        sdk = self._arg("ROCM_SDK_VERSION")
        if sdk:
            return sdk
        image = re.search(r":(\d+(?:\.\d+)+)-", self.args.get("BASE_IMAGE", ""))
        return [image[1], self._at("BASE_IMAGE")] if image else None

    def _pin(self, package: str) -> Json | None:
        branch, repo, wheel = _PACKAGES[package]
        if wheel and wheel in self.args and branch not in self.args:
            version = self.args[wheel]
            return {
                "package": package,
                "asked": version,
                "origin": self._at(wheel),
                "wheel": version,
                "version": [version, self._at(wheel)],
            }
        if branch not in self.args or repo not in self.args:
            return None
        asked = self.args[branch]
        repository = re.sub(r"^https://github\.com/|(\.git)?/?$", "", self.args[repo])
        return self._source_pin(package, repository, asked, self._at(branch))

    def _source_pin(self, package: str, repository: str, asked: str, at: Origin) -> Json:
        pin: Json = {"package": package, "repository": repository, "asked": asked, "origin": at}
        known = self.facts.expand(repository, asked)
        if known:
            pin["commit"] = known.commit
            if known.commit != asked:
                pin["commit-origin"] = origin(known.where, inferred=known.inferred)
        row = self.facts.tag(repository, asked)
        if row:
            pin["tag"] = asked
            if row.get("annotated_tag_object"):
                pin["tag-object"] = row["annotated_tag_object"]
        version = self.facts.version(repository, asked, known.commit if known else None)
        if version:
            pin["version"] = list(version)
        picks = [
            self._pick(p, c, line) for p, c, line in self.raw.picks(self.path) if _STAGES.get(p) == package
        ]
        if picks:
            pin["picks"] = picks
        return pin

    def _pick(self, stage: str, asked: str, line: int) -> Json:
        pick: Json = {"asked": asked, "origin": origin(self.where, self.path, line)}
        known = self.facts.expand(f"picks of {stage}", asked)
        if known:
            pick["commit"] = known.commit
            pick["commit-origin"] = origin(known.where, inferred=known.inferred)
        return pick

    def _statements(self) -> list[list[Any]]:
        found: list[list[Any]] = []
        supported = self.release.get("torch_supported_version_rocm")
        if supported:
            line = self.raw.find("CMakeLists.txt", r"TORCH_SUPPORTED_VERSION_ROCM\s+\"?\d")
            found.append(["pytorch", f"=={supported}", origin(self.where, "CMakeLists.txt", line)])
        for name, package in _NAMES.items():
            stated = self.release["rocm_requirements"].get(name)
            if stated:
                file = stated["file"]
                line = self.raw.find(file, rf"^\s*{name}\s*==")
                found.append([package, f"=={stated['version']}", origin(self.where, file, line)])
        vision = self.args.get("PYTORCH_VISION_BRANCH")
        row = self.facts.tag("pytorch/vision", vision) if vision else None
        if row and row.get("requires_torch"):
            found.append(["pytorch", row["requires_torch"], origin(f"torchvision {vision}")])
        return found

    def _limits(self) -> Json:
        def at(pattern: str) -> Origin:
            return origin(self.where, "CMakeLists.txt", self.raw.find("CMakeLists.txt", pattern))

        made: Json = {}
        if self.release.get("hip_supported_archs"):
            made["supported-gfx"] = self.release["hip_supported_archs"]
            made["supported-gfx-origin"] = at(r"HIP_SUPPORTED_ARCHS")
        if self.release.get("python_supported_versions"):
            made["supported-python"] = self.release["python_supported_versions"]
            made["supported-python-origin"] = at(r"PYTHON_SUPPORTED_VERSIONS")
        if self.release.get("cxx_standard"):
            made["cxx-standard"] = [str(self.release["cxx_standard"]), at(r"CMAKE_CXX_STANDARD")]
        return made

    def _requirements(self) -> Json:
        def first(paths: tuple[str, ...], *, follow: bool) -> list[tuple[str, str, int]] | None:
            answers = (self.raw.requirements(path, follow=follow) for path in paths)
            return next((answer for answer in answers if answer is not None), None)

        run = first(("requirements/rocm.txt", "requirements-rocm.txt"), follow=True)
        build = first(("requirements/build/rocm.txt", "requirements/rocm-build.txt"), follow=False)
        made: Json = {}
        if run is not None:
            made["requires-run"] = [list(line) for line in run]
        if build is not None:
            made["requires-build"] = [list(line) for line in build]
        elif self.release.get("build_system_requires"):
            lines = self.release["build_system_requires"]
            made["requires-build"] = [[line, "pyproject.toml", 0] for line in lines if "torch" not in line]
        return made

    def _unread(self) -> list[str]:
        found: list[str] = []
        if not self.raw.has(self.path):
            found.append(f"the RUN lines of {self.path}")
        if not any(self.raw.has(path) for path in ("requirements/rocm.txt", "requirements-rocm.txt")):
            found.append("the requirement files")
        return found
