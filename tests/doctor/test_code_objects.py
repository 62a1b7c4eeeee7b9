"""GPU code objects: what real compilers wrote, what hostile files say, and what only looks like one."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmlock.doctor.bundles import MAGIC, BundleError, CodeObject, parse_bundles, parse_entry_id
from rocmlock.doctor.codeobjects import diff_targets, find_elf_files, read_code_objects

KERNEL = "__attribute__((global)) void kernel(float *x) { x[0] = 1; }\n"
CLANG = ["clang++-19", "-x", "hip", "-nogpulib", "-nogpuinc", "-O1", "-c", "-fPIC"]
DECLARED = """
struct dim3 { unsigned x, y, z; };
extern "C" int __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, void **);
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
"""


def compile_hip(folder: Path, name: str, archs: list[str], *options: str) -> Path:
    (folder / f"{name}.hip").write_text(DECLARED + KERNEL.replace("kernel", name))
    out = folder / f"{name}.o"
    offload = [f"--offload-arch={arch}" for arch in archs]
    # Unit IDs of their own: with -fuse-cuid=none two units define one symbol and do not link.
    command = [*CLANG, f"-cuid={name}", *offload, *options, str(folder / f"{name}.hip"), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out


def elf(mach: int, machine: int = 224) -> bytes:
    """A code object's header, as far as it is read."""
    head = bytearray(64)
    head[:5] = b"\x7fELF\x02"
    struct.pack_into("<H", head, 18, machine)
    struct.pack_into("<I", head, 48, mach)
    return bytes(head)


def bundle(*entries: tuple[str, bytes]) -> bytes:
    head = MAGIC + struct.pack("<Q", len(entries))
    size = len(head) + sum(24 + len(name) for name, _ in entries)
    table, data = b"", b""
    for name, content in entries:
        table += struct.pack("<QQQ", size + len(data), len(content), len(name)) + name.encode()
        data += content
    return head + table + data


MI300 = ("hipv4-amdgcn-amd-amdhsa--gfx942", elf(0x54C))
MI250 = ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", elf(0x63F))
HOST = ("host-x86_64-unknown-linux-gnu-", b"")


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_what_clang_wrote(tmp_path: Path) -> None:
    assert read_code_objects(compile_hip(tmp_path, "a", ["gfx942", "gfx90a"])).targets == ("gfx90a", "gfx942")
    features = read_code_objects(compile_hip(tmp_path, "b", ["gfx90a:xnack-", "gfx1100"]))
    assert features.targets == ("gfx90a:xnack-", "gfx1100")


@pytest.mark.requires("clang-19", "ld.lld-19", "g++-11")
def test_several_bundles_in_one_section(tmp_path: Path) -> None:
    objects = [compile_hip(tmp_path, "a", ["gfx942"]), compile_hip(tmp_path, "b", ["gfx90a"])]
    joined = tmp_path / "joined.o"
    subprocess.run(["ld", "-r", *map(str, objects), "-o", str(joined)], check=True, capture_output=True)
    assert read_code_objects(joined).targets == ("gfx90a", "gfx942")


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_a_compressed_bundle_is_unknown_not_empty(tmp_path: Path) -> None:
    found = read_code_objects(compile_hip(tmp_path, "a", ["gfx942"], "--offload-compress"))
    assert found.targets == ()
    assert "compressed" in found.unreadable


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_a_loose_code_object(tmp_path: Path) -> None:
    found = compile_hip(tmp_path, "a", ["gfx942"], "--cuda-device-only", "--no-gpu-bundle-output")
    assert read_code_objects(found).targets == ("gfx942",)


@pytest.mark.requires("g++-11")
def test_a_word_is_no_code(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        'const char *words = "hipv4-amdgcn-amd-amdhsa--gfx942 __CLANG_OFFLOAD_BUNDLE__";\n'
    )
    subprocess.run(["gcc-11", "-c", "a.c", "-o", "a.o"], check=True, cwd=tmp_path)
    assert read_code_objects(tmp_path / "a.o").targets == ()
    assert read_code_objects(tmp_path / "a.o").unreadable == ""


def test_bundles_by_hand() -> None:
    first = CodeObject("gfx942", 64)
    assert parse_bundles(bundle(HOST, MI300)) == [first]
    assert parse_bundles(bundle(HOST, MI300) + b"\0" * 5000 + bundle(HOST, MI250)) == [
        first,
        CodeObject("gfx90a:xnack-", 64),
    ]
    assert parse_bundles(b"\0" * 100) == []
    assert parse_entry_id("hip-amdgcn-amd-amdhsa-gfx906") == "gfx906"


@pytest.mark.parametrize(
    "data",
    [
        MAGIC,
        MAGIC + struct.pack("<Q", 1 << 60),
        MAGIC + struct.pack("<Q", 1) + struct.pack("<QQQ", 1 << 62, 1 << 62, 10) + b"host-x8664",
        MAGIC + struct.pack("<Q", 1) + struct.pack("<QQQ", 0, 0, 1 << 50),
        bundle(HOST, MI300)[:-1],
        bundle(HOST, MI300) + b"junk",
        b"CCOB" + b"\0" * 40,
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx943", elf(0x54C))),
        bundle(("cuda-nvptx64--sm_80", b"x" * 64)),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx90a", elf(0x54C))),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx942", b"not an elf file" * 9)),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx942", elf(0x54C, machine=62))),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx942", elf(0xFF))),
    ],
)
def test_what_cannot_be_read_is_told(data: bytes) -> None:
    with pytest.raises(BundleError):
        parse_bundles(data)


WHOLE = bundle(HOST, MI300, MI250)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, len(WHOLE)),
)
def test_a_damaged_bundle_never_crashes(changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(WHOLE)
    for position, value in changes:
        data[position] = value
    try:
        parse_bundles(bytes(data[:end]))
    except BundleError:
        return


def test_damaged_elf_files_are_told(tmp_path: Path) -> None:
    whole = Path("/bin/true").read_bytes()
    for number, size in enumerate((5, 20, 64, 100, len(whole) // 2)):
        path = tmp_path / str(number)
        path.write_bytes(whole[:size])
        assert read_code_objects(path).targets == ()


def test_elf_files_are_found_by_content(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "no-suffix").write_bytes(elf(0x54C))
    (tmp_path / "text.so").write_text("not an ELF file")
    (tmp_path / "empty.so").touch()
    (tmp_path / "link.so").symlink_to("/bin/true")
    assert find_elf_files(tmp_path) == [tmp_path / "d" / "no-suffix"]


@pytest.mark.parametrize(
    ("held", "wanted", "match", "missing", "extra"),
    [
        (["gfx942"], ["gfx942"], "equal", (), ()),
        (["gfx942", "gfx90a"], ["gfx942"], "equal", (), ("gfx90a",)),
        (["gfx90a"], ["gfx942"], "equal", ("gfx942",), ("gfx90a",)),
        (["gfx942", "gfx90a"], ["gfx942"], "contains", (), ()),
        ([], ["gfx942"], "contains", ("gfx942",), ()),
        (["gfx942"], ["gfx942"], "none", (), ("gfx942",)),
        (["gfx90a:xnack-:sramecc+"], ["gfx90a:sramecc+:xnack-"], "equal", (), ()),
        (["gfx90a"], ["gfx90a:xnack-"], "equal", ("gfx90a:xnack-",), ("gfx90a",)),
    ],
)
def test_comparing(held, wanted, match, missing, extra) -> None:
    assert diff_targets(held, wanted, match) == (missing, extra)
