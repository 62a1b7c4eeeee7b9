"""References of container images, and the ROCm version and distribution that AMD's image names carry."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VERSION = r"\d+(?:\.\d+)+"
_ROCM_TAG = re.compile(rf"(?:^|[-_])rocm-?({_VERSION})(?![\d.])")
_AMD_TAG = re.compile(rf"({_VERSION})(?=$|[-_])")
_DISTRIBUTION = re.compile(r"(ubuntu|debian|almalinux|centos|rhel|ubi|opensuse)-?(\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Image:
    """``rocm`` is a ROCm version, ``distribution`` like ``ubuntu-22.04``; empty where the name tells none."""

    name: str
    tag: str
    digest: str
    rocm: str
    distribution: str


def parse_image(reference: str) -> Image:
    """Take a reference apart; the name may begin with a registry's host and port.

    A version is taken for ROCm's where the tag says ``rocm``, or begins with it in a repository of ``rocm/``:
    ``rocm/dev-ubuntu-22.04:7.2.3-complete``,
    ``rocm/pytorch:rocm6.2_ubuntu20.04_py3.9_pytorch_release_2.3.0``.
    """
    rest, _, digest = reference.partition("@")
    head, slash, last = rest.rpartition("/")
    last, _, tag = last.partition(":")
    name = head + slash + last
    amd = name.startswith("rocm/") or "/rocm/" in name
    version = _ROCM_TAG.search(tag) or (_AMD_TAG.match(tag) if amd else None)
    # The tag tells the distribution, or the name does, or both together: ubuntu:22.04.
    system = next(filter(None, (_DISTRIBUTION.search(part) for part in (tag, last, f"{last}-{tag}"))), None)
    return Image(
        name, tag, digest, version[1] if version else "", f"{system[1]}-{system[2]}" if system else ""
    )
