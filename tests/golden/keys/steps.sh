set -eu
umask 022
/build/tools/uv venv --quiet --offline --no-config --no-cache --no-python-downloads --python /usr/bin/python3.12 /build/env
/build/tools/uv pip install --quiet --offline --no-config --no-cache --no-python-downloads --no-deps --link-mode copy --python /build/env/bin/python /build/wheels/*.whl
cd /build/src
echo '[1/1] /build/env/bin/python -m build --wheel --outdir /build/out /build/src'
/build/env/bin/python -m build --wheel --outdir /build/out /build/src
