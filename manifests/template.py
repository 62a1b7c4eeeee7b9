"""The manifest that ``rocmlock init`` writes. Pure."""

from __future__ import annotations

_TEMPLATE = """\
# What to build, and for which machines. `rocmlock resolve` turns it into rocmlock.lock: exact commits and
# hashes, each with its reason. Then `rocmlock realize` builds that, and `rocmlock run -- CMD` uses it.
schema = 1
name = "{name}"

[target]
gfx = ["gfx942"]              # GPU archs: gfx942 is MI300X; more may follow; features as in "gfx90a:xnack-"
rocm = ">=7.0,<7.3"           # the ROCm releases that you can run
python = "3.12"
# Several targets in one lock: a table for each, [target.mi300x] and [target.mi250], with the keys that
# differ; the keys in [target] itself are shared.

[toolchain]
host = {{ gcc = "11" }}         # host code: exactly this major, never another that happens to be there
device = "rocm"               # GPU code: ROCm's own clang; {{ clang = "19" }} where no ROCm is used

[packages]                    # built from source; "*" is any version that fits the others
pytorch = ">=2.8"
triton = "*"
vllm = ">=0.20"
# our-kernels = {{ path = "./kernels" }}                                 # a folder with a pyproject.toml
# flash-attention = {{ git = "https://github.com/ROCm/flash-attention", rev = "<commit>" }}
# msgspec = {{ sdist = ">=0.19" }}                                       # a source distribution of PyPI

[flags]                       # part of every key
opt-level = "O3"              # O0 | O1 | O2 | O3 | Os
debug = "none"                # none | line | full
# [flags.vllm]
# env = {{ VLLM_ROCM_USE_AITER = "1" }}

[python]
requires = []                 # further wheels, locked by hash: ["ray>=2.9"]

[resolve]
strategy = "tested"           # the sets that upstream itself tests
# released-before = 2026-11-01  # reproducible resolution: nothing newer counts
"""


def render_template(name: str) -> str:
    """A commented manifest for a stack called ``name``."""
    return _TEMPLATE.format(name=name)
