#!/usr/bin/env bash
# The 60-second tour: each command is shown as a user would type it, and the first one that fails ends the tour.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
# The tour shows the same on every day: the facts that rocmlock is shipped with, not those of today's GitHub.
export ROCMLOCK_SOURCE=snapshot

show() {
    printf '\n# %s\n' "$1"
    shift
    printf '$ %s\n' "$*"
    "$@"
}

mkdir -p demo
stock=manifests/stock
first_light=$stock/first-light.toml
python=$(python -c 'import sys; print("{}.{}".format(*sys.version_info[:2]))')
if ! grep -Eq "^python *= *\"$python\"" "$first_light"; then
    first_light=demo/first-light.toml
    python tools/first_light.py "$first_light"
    printf '%s is %s/first-light.toml for the Python that is here, %s.\n' "$first_light" "$stock" "$python"
fi

show "ten lines of manifest to real commits of PyTorch, Triton and vLLM, each with its reason" \
    rocmlock resolve $stock/mi300x-vllm.toml -o demo/mi300x-vllm.lock
show "what building them would take, and what this machine lacks for it" \
    rocmlock realize --dry-run demo/mi300x-vllm.lock
show "the same path with a stack that builds here, in seconds" \
    rocmlock resolve "$first_light" -o demo/first-light.lock
show "built from source in a sandbox without network, each binary proved to hold the GPU code asked for" \
    rocmlock realize demo/first-light.lock
show "the environment, running: the GPU code objects in the library that was built" \
    rocmlock run -l demo/first-light.lock -- python -m gfx_probe
