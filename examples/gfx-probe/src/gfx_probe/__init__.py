"""Says which GPU code the installed library holds."""

from gfx_probe import _probe

host_compiler = _probe.host_compiler
kernels = _probe.kernels
launch = _probe.launch


def code_objects():
    """[(target, size in bytes)] of the GPU code in the library, the host's empty entry left out."""
    return [
        (entry.rpartition("--")[2], size) for entry, size in _probe.code_objects() if not entry.startswith("host-")
    ]
