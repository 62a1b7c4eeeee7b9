#!/usr/bin/env bash
# Makes the development environment: the system packages that builds and tests need, then .venv with exactly
# the packages of requirements-dev.lock and this checkout. Nothing is done that is done already.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
lock=requirements-dev.lock

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# The system's Python comes first: its headers are where the sandbox, which sees the system's folders only, finds them.
find_python() {
    local candidate
    for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if is_new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

# One line per package: its name, then a command that succeeds where it is installed.
list_needs() {
    cat <<'EOF'
bubblewrap command -v bwrap
git command -v git
make command -v make
gcc-11 command -v gcc-11
g++-11 command -v g++-11
clang-19 command -v clang-19
clang-tools-19 command -v clang-offload-bundler-19
lld-19 command -v ld.lld-19
EOF
    local python
    python=$(find_python)
    # An outdated system Python with no other beside it cannot be helped by packages; make_venv says so.
    if [[ -z $python && ! -x /usr/bin/python3 || $python == /usr/bin/* || $python == /bin/* ]]; then
        cat <<EOF
python3 test -n "$python"
python3-venv ${python:-false} -c "import venv, ensurepip"
python3-dev ${python:-false} -c "import pathlib, sysconfig; pathlib.Path(sysconfig.get_path('include'), 'Python.h').stat()"
EOF
    fi
}

list_missing() {
    local package probe
    list_needs | while read -r package probe; do
        eval "$probe" >/dev/null 2>&1 </dev/null || printf '%s\n' "$package"
    done
}

install_missing() {
    local missing command
    mapfile -t missing < <(list_missing)
    [ "${#missing[@]}" -eq 0 ] && return
    if ! command -v apt-get >/dev/null; then
        fail "missing: ${missing[*]} (names of Debian's packages; this is not Debian or Ubuntu: install their like by your system's means)"
    fi
    command="apt-get install -y --no-install-recommends ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        fail "system packages are missing. Run this, then the same command again:
    sudo apt-get update && sudo $command"
    fi
    printf 'setup: %s\n' "$command" >&2
    export DEBIAN_FRONTEND=noninteractive
    # A broken source beside the good ones must not stop us: whether the packages are to be had, the install tells.
    apt-get -qq update || true
    # shellcheck disable=SC2086
    $command -qq -o DPkg::Lock::Timeout=120 >&2 || fail "apt-get could not install ${missing[*]}; on Ubuntu they come from the updates of the universe component"
    mapfile -t missing < <(list_missing)
    [ "${#missing[@]}" -eq 0 ] || fail "still missing after the install: ${missing[*]}"
}

make_venv() {
    local python
    python=$(find_python)
    [ -n "$python" ] || fail "no Python of version 3.11 or later was found; install one and put it on PATH as python3"
    if ! { is_new_enough $venv/bin/python && $venv/bin/python -c 'import pip' 2>/dev/null; }; then
        printf 'setup: %s with %s\n' "$venv" "$("$python" --version)" >&2
        "$python" -m venv --clear $venv
    fi
}

# Two steps, both by hash: one package of the lock has no wheel and is built with the lock's own setuptools,
# which must be there first; uv then brings the environment to exactly what the lock says.
install_locked() {
    local first=$venv/first.lock
    awk '/^[a-z]/ { keep = /^(setuptools|uv)==/ } keep' $lock >$first
    $venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r $first
    $venv/bin/uv pip sync -q --python $venv/bin/python --require-hashes --no-build-isolation \
        --only-binary :all: --no-binary pluginbase $lock
    $venv/bin/uv pip install -q --python $venv/bin/python --no-deps --no-build-isolation --editable .
}

install_missing
make_venv
install_locked
printf 'setup: %s is ready\n' "$venv" >&2
