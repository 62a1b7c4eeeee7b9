"""``python -m gfx_probe [--json]``: print the code objects that the installed library holds."""

import json
import sys
from pathlib import Path

from gfx_probe import _probe, code_objects, host_compiler, kernels


def main():
    found = code_objects()
    if "--json" in sys.argv[1:]:
        rows = [{"target": target, "size": size} for target, size in found]
        print(json.dumps({"code-objects": rows, "kernels": kernels(), "host-compiler": host_compiler}))
        return
    print(f"{Path(_probe.__file__).name}: host code by {host_compiler}")
    for target, size in found:
        print(f"  {target:8} {size:6} bytes   {', '.join(kernels())}")


if __name__ == "__main__":
    main()
