"""Locks for tests: one small, one that uses every field."""

from __future__ import annotations

from rocmlock.lockfile import model
from rocmlock.lockfile.model import (
    Check,
    Compiler,
    Download,
    Flags,
    GitSource,
    Lock,
    Package,
    Patch,
    PathSource,
    Python,
    Reason,
    Requires,
    Rocm,
    SdistSource,
    Target,
    Toolchain,
    Wheel,
    WheelFile,
)
from rocmlock.lockfile.names import commit, content_digest, file_name

STEPS = (("{python}", "-m", "build", "--wheel", "--outdir", "{out}", "{src}"),)


def digest(digit: str):
    return content_digest("sha256:" + digit * 64)


def small() -> Lock:
    return Lock(
        name="small",
        targets=(
            Target(
                "default",
                ("gfx942",),
                Python("3.11", "cp311", "manylinux_2_34_x86_64"),
                Toolchain(Compiler("gcc", "11"), Compiler("clang", "19")),
            ),
        ),
        packages=(
            Package(
                "kernels",
                "kernels",
                PathSource("../kernels", digest("a")),
                ("default",),
                ("gfx942",),
                STEPS,
                (Check("equal"),),
            ),
        ),
        wheels=(),
    )


def full() -> Lock:
    said = Reason(
        "vllm@" + "1" * 40 + ":docker/Dockerfile.rocm_base:2", "vllm 0.27.1 tests ROCm/triton at 0f380657"
    )
    guessed = Reason("public texts", "0f380657 is a commit", "inferred")
    triton = Package(
        name="triton",
        distribution="triton",
        version="3.6.0",
        source=GitSource("https://github.com/ROCm/triton", commit("2" * 40), "v3.6.0", "3" * 40),
        targets=("default",),
        gfx=("gfx90a", "gfx942"),
        steps=STEPS,
        checks=(Check("none"), Check("contains", ("a/*.so", "b/**"))),
        environment={"CC": "{cc}", "A": "1"},
        picks=(commit("4" * 40),),
        patches=(Patch(file_name("fix.patch"), digest("5"), "--- a\n+++ b\n"),),
        downloads=(Download(file_name("llvm.tar.gz"), digest("6"), "src/llvm.tar.gz"),),
        build=Requires((), ("cmake>=3.20,<4.0",), ("cmake==3.31.6",)),
        memory_per_job=2048,
        reasons=(said, guessed),
        gfx_reasons=(Reason("recipe triton", "shorter than asked"),),
    )
    msgspec = Package(
        name="msgspec",
        distribution="msgspec",
        version="0.23.0",
        source=SdistSource(file_name("msgspec-0.23.0.tar.gz"), digest("7"), 378550),
        targets=("default",),
        gfx=("gfx90a", "gfx942"),
        steps=STEPS,
        checks=(Check("none"),),
        build=Requires(("triton",), (), ()),
        run=Requires(("triton",), ("numpy>=2",), ()),
    )
    return Lock(
        name="full",
        targets=(
            Target(
                "default",
                ("gfx90a", "gfx942"),
                Python(
                    "3.12", "cp312", "manylinux_2_34_x86_64", requires=("numpy",), wheels=("numpy==2.3.5",)
                ),
                Toolchain(Compiler("clang", "15", "11"), Compiler("rocm")),
                Rocm("7.2.3", reasons=(said,)),
            ),
        ),
        packages=(triton, msgspec),
        wheels=(
            Wheel(
                "numpy",
                "2.3.5",
                (WheelFile(file_name("numpy-2.3.5-py3-none-any.whl"), digest("8"), ("default",), 9),),
            ),
            Wheel(
                "cmake",
                "3.31.6",
                (WheelFile(file_name("cmake-3.31.6-py3-none-any.whl"), digest("9"), ("default",)),),
            ),
        ),
        flags=Flags("O2", "line"),
        warnings=(model.Warning("two places disagree", ("a:1", "b:2")),),
    )
