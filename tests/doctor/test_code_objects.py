"""GPU code objects: what real compilers wrote, what hostile files say, and what only looks like one."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmlock.doctor.bundles import MAGIC, BundleError, CodeObject, parse_bundles, parse_entry_id
from rocmlock.doctor.codeobjects import CodeObjects, diff_targets, find_elf_files, read_code_objects
from rocmlock.errors import RocmlockError
from rocmlock.gfx import PROCESSORS, sort_targets

AFTER_CLANG_19 = {
    *("gfx950", "gfx1153", "gfx1250", "gfx1251"),
    *(name for name in PROCESSORS if name.endswith("-generic")),  # there, but only as code objects v6
}
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


def elf(mach: int, machine: int = 224, abi: int = 3) -> bytes:
    """A code object's header, as far as it is read. ``abi`` 3 is code object version 5."""
    head = bytearray(64)
    head[:5] = b"\x7fELF\x02"
    head[8] = abi
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
pack = struct.Struct("<Q").pack


def move(data: bytes, entry: int, onto: int) -> bytes:
    """``data`` with one entry (counted from 1) said to lie where another does; 0 is the bundle's start."""
    place = len(MAGIC) + 8
    places = [0]
    offsets = [0]
    for _ in range(int.from_bytes(data[len(MAGIC) : place], "little")):
        places.append(place)
        offset, _, length = struct.unpack_from("<QQQ", data, place)
        offsets.append(offset)
        place += 24 + length
    start = places[entry]
    return data[:start] + pack(offsets[onto]) + data[start + 8 :]


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_what_clang_wrote(tmp_path: Path) -> None:
    assert read_code_objects(compile_hip(tmp_path, "a", ["gfx942", "gfx90a"])).targets == ("gfx90a", "gfx942")
    features = read_code_objects(compile_hip(tmp_path, "b", ["gfx90a:xnack-", "gfx1100"]))
    assert features.targets == ("gfx90a:xnack-", "gfx1100")


@pytest.mark.requires("clang-19", "ld.lld-19")
@pytest.mark.parametrize("modes", ["", "+"])
def test_the_table_agrees_with_clang(tmp_path: Path, modes: str) -> None:
    known = [processor for processor in PROCESSORS.values() if processor.name not in AFTER_CLANG_19]
    archs = [
        ":".join([processor.name, *(f"{word}{modes}" for word in processor.features if modes)])
        for processor in known
    ]
    # Reading holds each code object's ELF flags against the target ID that clang wrote beside it.
    assert read_code_objects(compile_hip(tmp_path, "a", archs)) == CodeObjects(sort_targets(archs))


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_generic_targets(tmp_path: Path) -> None:
    archs = ["gfx9-generic:xnack+", "gfx10-1-generic:xnack-", "gfx11-generic"]
    found = read_code_objects(compile_hip(tmp_path, "a", archs, "-mcode-object-version=6"))
    assert found == CodeObjects(sort_targets(archs))


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_code_for_a_withdrawn_target_is_told_as_such(tmp_path: Path) -> None:
    loose = compile_hip(tmp_path, "a", ["gfx940"], "--cuda-device-only", "--no-gpu-bundle-output")
    for path in (loose, compile_hip(tmp_path, "b", ["gfx940"])):
        assert read_code_objects(path) == CodeObjects(("gfx940",))
    assert diff_targets(["gfx940"], ["gfx942"], "equal") == (("gfx942",), ("gfx940",))


@pytest.mark.requires("clang-19", "ld.lld-19")
@pytest.mark.parametrize("options", [["-fgpu-rdc"], ["-fgpu-rdc", "--offload-new-driver"]])
def test_code_that_is_not_linked_yet_is_unknown_not_empty(tmp_path: Path, options: list[str]) -> None:
    found = read_code_objects(compile_hip(tmp_path, "a", ["gfx942"], *options))
    assert found.targets == ()
    assert "not linked" in found.unreadable


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_a_loose_bundle(tmp_path: Path) -> None:
    found = compile_hip(tmp_path, "a", ["gfx942", "gfx90a"], "--cuda-device-only", "--gpu-bundle-output")
    assert found.read_bytes().startswith(MAGIC)
    assert read_code_objects(found) == CodeObjects(("gfx90a", "gfx942"))


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_split_debug_information_holds_no_code(tmp_path: Path) -> None:
    whole, split = compile_hip(tmp_path, "a", ["gfx942"]), tmp_path / "a.debug"
    subprocess.run(["objcopy", "--only-keep-debug", str(whole), str(split)], check=True)
    assert read_code_objects(split) == CodeObjects(())


@pytest.mark.requires("clang-19", "ld.lld-19", "g++-11")
def test_several_bundles_in_one_section(tmp_path: Path) -> None:
    objects = [compile_hip(tmp_path, "a", ["gfx942"]), compile_hip(tmp_path, "b", ["gfx90a"])]
    joined = tmp_path / "joined.o"
    subprocess.run(["ld", "-r", *map(str, objects), "-o", str(joined)], check=True, capture_output=True)
    assert read_code_objects(joined).targets == ("gfx90a", "gfx942")
    shared = tmp_path / "joined.so"
    undefined = ["-shared", "-Wl,--unresolved-symbols=ignore-all"]
    subprocess.run(["g++-11", *undefined, *map(str, objects), "-o", str(shared)], check=True)
    assert read_code_objects(shared).targets == ("gfx90a", "gfx942")


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
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx942", elf(0x54C, abi=1))),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", elf(0x54C))),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx90a", elf(0x63F))),
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx942\x1b[2J", elf(0x54C))),
        bundle(*[(HOST[0], b"")] * 5000),
        bundle(("host-\x1b[2J", b"a"))[:-1],
        move(bundle(MI300, MI300, MI300), 2, 3),  # the second is where the third is
        move(bundle(("host-x86_64-unknown-linux-gnu-", b"\0" * 8)), 1, 0),  # the host's is the header
    ],
)
def test_what_cannot_be_read_is_told(data: bytes) -> None:
    with pytest.raises(BundleError) as err:
        parse_bundles(data)
    assert str(err.value).isprintable()  # it goes to a terminal


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


HEADER = struct.Struct("<QQQ")
NUMBERS = st.one_of(st.integers(0, 400), st.integers(0, 2**64 - 1))


@settings(max_examples=300)
@given(
    NUMBERS,
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([HOST[0], MI300[0], MI250[0], ""]))),
    st.binary(max_size=200),
)
def test_a_header_that_lies_never_crashes(count: int, entries: list[tuple], rest: bytes) -> None:
    table = b"".join(HEADER.pack(*numbers) + name.encode() for *numbers, name in entries)
    data = MAGIC + pack(count) + table + rest + MI300[1]
    try:
        found = parse_bundles(data)
    except BundleError:
        return
    assert sum(entry.size for entry in found) <= len(data)


def elf_with(field: str, value: int) -> bytes:
    """A real ELF file whose header says ``value`` for the table's place, its count or its names' place."""
    data = bytearray(Path("/bin/true").read_bytes())
    table = int.from_bytes(data[40:48], "little")
    names = table + 64 * int.from_bytes(data[62:64], "little")
    if field == "count":
        data[60:62] = b"\0\0"  # the first section's sh_size says how many there are
    place = {"table": 40, "count": table + 32, "names": names + 24}[field]
    data[place : place + 8] = pack(value)
    return bytes(data)


@pytest.mark.parametrize("size", [5, 20, 64, 100, 1000])
def test_truncated_elf_files_are_told(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.so").write_bytes(Path("/bin/true").read_bytes()[:size])
    assert read_code_objects(tmp_path / "a.so").unreadable


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("table", 0),  # as in a file without a section table
        ("table", 2**40),
        ("table", 2**63 + 5),
        ("count", 2**60),
        ("names", 2**62),
        ("names", 2**64 - 1),
    ],
)
def test_elf_headers_that_lie_are_told(tmp_path: Path, field: str, value: int) -> None:
    (tmp_path / "a.so").write_bytes(elf_with(field, value))
    found = read_code_objects(tmp_path / "a.so")
    assert found.targets == ()
    assert found.unreadable


def test_a_table_of_too_many_sections_is_not_walked(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(elf_with("count", 2**60))
    with (tmp_path / "a.so").open("r+b") as file:
        file.truncate(2**31)  # a sparse file: room for millions of empty sections
    assert "more than" in read_code_objects(tmp_path / "a.so").unreadable


def test_an_entry_that_does_not_match_its_code_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.hsaco").write_bytes(bundle(HOST, ("hipv4-amdgcn-amd-amdhsa--gfx90a", elf(0x54C))))
    found = read_code_objects(tmp_path / "a.hsaco")
    assert found.targets == ()
    assert "gfx90a" in found.unreadable
    assert "gfx942" in found.unreadable


def test_what_is_not_there_is_no_empty_answer(tmp_path: Path) -> None:
    for read in (read_code_objects, find_elf_files):
        with pytest.raises(RocmlockError) as err:
            read(tmp_path / "missing")
        assert err.value.reason.reference == "file-unreadable"


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
