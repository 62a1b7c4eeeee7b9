"""Builds the extension: kernels by the HIP compiler, host code by the C++ compiler, linked into one library."""

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


def variable(name):
    value = os.environ.get(name, "")
    if not value:
        raise SystemExit(f"gfx-probe: {name} is not set; rocmlock sets it in builds")
    return value


class BuildProbe(build_ext):
    def build_extension(self, ext):
        objects = Path(self.build_temp)
        objects.mkdir(parents=True, exist_ok=True)
        output = Path(self.get_ext_fullpath(ext.name))
        output.parent.mkdir(parents=True, exist_ok=True)
        source = Path("src/gfx_probe")
        common = ["-fPIC", "-fvisibility=hidden", f"-ffile-prefix-map={Path.cwd()}=."]
        archs = [f"--offload-arch={arch}" for arch in variable("ROCMLOCK_GFX").split(";")]
        self.run_tool(
            [*shlex.split(variable("HIPCXX")), "-x", "hip", *archs, "-std=c++17"]
            # No ROCm is asked for anything: no device library, no headers, no runtime (which clang would only
            # name when linking, and says so).
            + ["-nogpulib", "-nogpuinc", "-no-hip-rt", "-Wno-unused-command-line-argument"]
            + [f"--gcc-install-dir={variable('ROCMLOCK_GCC_INSTALL_DIR')}"]
            # A unit's ID would otherwise be a hash of its path.
            + ["-fuse-cuid=none", *common, *shlex.split(os.environ.get("HIPFLAGS", "-O3"))]
            + ["-c", str(source / "kernels.hip"), "-o", str(objects / "kernels.o")]
        )
        self.run_tool(
            [*shlex.split(variable("CXX")), "-std=c++17", *common]
            + shlex.split(os.environ.get("CXXFLAGS", "-O3"))
            + [f"-I{sysconfig.get_paths()['include']}"]
            + ["-c", str(source / "probe.cpp"), "-o", str(objects / "probe.o")]
        )
        self.run_tool(
            [*shlex.split(variable("CXX")), "-shared", "-Wl,-Bsymbolic", "-Wl,--build-id=none"]
            + [str(objects / "probe.o"), str(objects / "kernels.o"), "-o", str(output)]
        )

    def run_tool(self, command):
        print(shlex.join(command), flush=True)
        subprocess.run(command, check=True)


setup(
    ext_modules=[Extension("gfx_probe._probe", ["src/gfx_probe/probe.cpp"])],
    cmdclass={"build_ext": BuildProbe},
)
