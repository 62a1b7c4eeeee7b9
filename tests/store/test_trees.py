"""Trees: what has a digest, what has not, and folders made from them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from harness import check_golden
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.store.blobs import BlobStore
from rocmlock.store.digest import Digest, digest_of_bytes
from rocmlock.store.layout import open_store
from rocmlock.store.nodes import DirectoryNode, FileNode, Folder, SymlinkNode, link_stays_inside
from rocmlock.store.proto import encode_folder, parse_folder
from rocmlock.store.publish import Publication
from rocmlock.store.trees import DEFAULT_IGNORE, add_tree, materialise, read_tree, tree_digest

GOLDEN = Path(__file__).parent.parent / "golden" / "trees.txt"
EMPTY = digest_of_bytes(b"")

# A tree as nested values: text is a file, None an executable one, a dictionary a folder.
NAME = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12
)
TREE = st.recursive(
    st.dictionaries(
        NAME.filter(lambda name: name not in {".", ".."}), st.none() | st.text(max_size=20), max_size=4
    ),
    lambda inner: st.dictionaries(
        NAME.filter(lambda name: name not in {".", ".."}), inner | st.text(max_size=9), max_size=4
    ),
    max_leaves=12,
)


def lay_out(folder: Path, tree: dict, *, reverse: bool = False) -> Path:
    folder.mkdir(parents=True)
    for name, value in sorted(tree.items(), reverse=reverse):
        if isinstance(value, dict):
            lay_out(folder / name, value, reverse=reverse)
        else:
            (folder / name).write_text(value or "#!/bin/sh\n", encoding="utf-8")
            (folder / name).chmod(0o700 if value is None else 0o640)
    return folder


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(open_store(tmp_path / "store"))


def publish(blobs: BlobStore, folder: Path) -> Digest:
    tree = read_tree(folder)
    with Publication(blobs.layout) as publication:
        add_tree(blobs, publication, tree)
        publication.commit()
    return tree.root


def test_golden_digests(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "t", {"a": {"b": {"x": "hello"}, "empty": {}}, "run": None, "ü": "é"})
    (folder / "link").symlink_to("a/b/x")
    tree = read_tree(folder)
    rows = [
        f"root {tree.root.hash} {tree.root.size}",
        f"empty {encode_folder(Folder()).hex() or '-'} {EMPTY.hash}",
    ]
    rows += sorted(f"{digest.hash} {data.hex()}" for digest, data in tree.messages.items())
    check_golden(GOLDEN, "\n".join(rows) + "\n")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(tree=TREE, writable=st.booleans())
def test_a_folder_survives_the_store(tmp_path_factory, tree: dict, writable: bool) -> None:
    base = tmp_path_factory.mktemp("t")
    blobs = BlobStore(open_store(base / "store"))
    root = publish(blobs, lay_out(base / "in", tree))
    materialise(blobs, root, base / "out", writable=writable, epoch=315532800)
    assert read_tree(base / "out").root == root
    for path in (base / "out").rglob("*"):
        assert path.stat().st_mtime == 315532800
        assert bool(path.stat().st_mode & 0o200) == writable


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(tree=TREE)
def test_order_times_and_modes_make_no_difference(tmp_path_factory, tree: dict) -> None:
    base = tmp_path_factory.mktemp("t")
    first, second = lay_out(base / "a", tree), lay_out(base / "b", tree, reverse=True)
    for path in second.rglob("*"):
        os.utime(path, (1, 1))
        if path.is_file() and not path.stat().st_mode & stat.S_IXUSR:
            path.chmod(0o444)
    assert read_tree(first).root == read_tree(second).root


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "f").write_text("other"),
        lambda folder: (folder / "f").chmod(0o755),
        lambda folder: (folder / "f").rename(folder / "g"),
        lambda folder: (folder / "d").rmdir(),
        lambda folder: (folder / "l").symlink_to("f"),
    ],
)
def test_what_counts_changes_the_digest(tmp_path: Path, change) -> None:
    folder = lay_out(tmp_path / "t", {"f": "text", "d": {}})
    before = read_tree(folder).root
    change(folder)
    assert read_tree(folder).root != before


def test_what_a_working_folder_holds_beside_its_source_is_left_out(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "t", {"f": "text"})
    before = tree_digest(folder)
    for name in (".git", "build", "x.egg-info", "__pycache__"):
        lay_out(folder / name, {"x": "y"})
    (folder / "a.pyc").write_text("x")
    assert tree_digest(folder) == before
    assert "*.egg-info" in DEFAULT_IGNORE


def test_all_that_no_tree_can_hold_is_told_at_once(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "t", {"d": {"f": "x"}})
    (folder / "absolute").symlink_to("/etc/passwd")
    (folder / "d" / "out").symlink_to("../../x")
    (folder / "d" / "in").symlink_to("../d/f")
    os.mkfifo(folder / "pipe")
    Path(os.fsdecode(bytes(folder) + b"/\xff")).write_text("x")
    with pytest.raises(RocmlockError) as raised:
        read_tree(folder)
    assert raised.value.reason.reference == "source-invalid"
    assert len(raised.value.problems) == 4


BAD = [
    Folder(files=(FileNode("..", EMPTY, executable=False),)),
    Folder(files=(FileNode("a/b", EMPTY, executable=False),)),
    Folder(files=(FileNode("", EMPTY, executable=False),)),
    Folder(files=(FileNode("a", EMPTY, executable=False),), directories=(DirectoryNode("a", EMPTY),)),
    Folder(symlinks=(SymlinkNode("l", "/etc/passwd"),)),
    Folder(symlinks=(SymlinkNode("l", ""),)),
]


@pytest.mark.parametrize("folder", BAD)
def test_a_message_that_no_tree_may_hold_is_refused(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        encode_folder(folder)
    # The same bytes from somebody who does not check.
    with monkeypatch.context() as patch:
        patch.setattr("rocmlock.store.proto.check_folder", lambda _: None)
        data = encode_folder(folder)
    with pytest.raises(ValueError, match=r"\w"):
        parse_folder(data)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_folder_or_refused(data: bytes) -> None:
    try:
        folder = parse_folder(data)
    except ValueError:
        return
    parse_folder(encode_folder(folder))


def test_a_tree_that_links_out_of_itself_is_not_made(blobs: BlobStore, tmp_path: Path) -> None:
    data = encode_folder(Folder(symlinks=(SymlinkNode("l", "../../etc/passwd"),)))
    with Publication(blobs.layout) as publication:
        root = blobs.add_bytes(publication, data)
        publication.commit()
    with pytest.raises(RocmlockError) as raised:
        materialise(blobs, root, tmp_path / "out", writable=True, epoch=0)
    assert raised.value.reason.reference == "store-corrupt"
    assert not (tmp_path / "out" / "l").is_symlink()


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_damaged_blob_is_found_and_never_used(blobs: BlobStore, tmp_path: Path, damage: str) -> None:
    root = publish(blobs, lay_out(tmp_path / "in", {"f": "precious content"}))
    blob = blobs.layout.blob(digest_of_bytes(b"precious content").hash)
    content = blob.read_bytes()
    blob.chmod(0o644)
    if damage == "flip":
        blob.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    elif damage == "cut":
        blob.write_bytes(content[:-1])
    else:
        blob.unlink()
    with pytest.raises(RocmlockError) as raised:
        materialise(blobs, root, tmp_path / "out", writable=True, epoch=0)
    assert raised.value.reason.reference == "store-corrupt"
    assert str(blob) in raised.value.message
    assert not (tmp_path / "out" / "f").exists()


def test_nothing_made_shares_an_inode_with_the_store(blobs: BlobStore, tmp_path: Path) -> None:
    root = publish(blobs, lay_out(tmp_path / "in", {"f": "text"}))
    materialise(blobs, root, tmp_path / "out", writable=True, epoch=0)
    (tmp_path / "out" / "f").write_text("changed by a build")
    assert blobs.read(digest_of_bytes(b"text").hash) == b"text"


@pytest.mark.parametrize(
    ("folder", "target", "inside"),
    [
        ("", "f", True),
        ("d", "../f", True),
        ("d", "../../f", False),
        ("", "/f", False),
        ("", "d/e/../../f", True),
        ("", "d/e/../../../f", False),
        # Where ".." leads after a name that is no real folder depends on what that name is: a link, say.
        ("", "l/../f", False),
        ("d", "./e//../x", True),
    ],
)
def test_where_a_link_leads(folder: str, target: str, inside: bool) -> None:
    assert link_stays_inside(folder, target, {"", "d", "d/e"}) == inside


def test_two_links_cannot_lead_out_together(tmp_path: Path) -> None:
    """Each of them stays inside by its own words; through the first, the second would not."""
    folder = lay_out(tmp_path / "t", {"d": {"e": {}}})
    (folder / "d" / "e" / "up").symlink_to("../..")
    (folder / "out").symlink_to("d/e/up/../secret")
    with pytest.raises(RocmlockError) as raised:
        read_tree(folder)
    assert [problem.message for problem in raised.value.problems] == [
        f"{folder}/out: it links to 'd/e/up/../secret', out of the folder"
    ]


def test_a_message_in_another_form_is_refused() -> None:
    """The same folder in other bytes would have two digests."""
    data = encode_folder(
        Folder(files=(FileNode("a", EMPTY, executable=False), FileNode("b", EMPTY, executable=False)))
    )
    half = len(data) // 2
    with pytest.raises(ValueError, match="canonical"):
        parse_folder(data[half:] + data[:half])


def test_a_size_that_lies_is_found(blobs: BlobStore, tmp_path: Path) -> None:
    content = digest_of_bytes(b"text")
    lie = encode_folder(Folder(files=(FileNode("f", Digest(content.hash, 5), executable=False),)))
    with Publication(blobs.layout) as publication:
        blobs.add_bytes(publication, b"text")
        root = blobs.add_bytes(publication, lie)
        publication.commit()
    with pytest.raises(RocmlockError) as raised:
        materialise(blobs, root, tmp_path / "out", writable=True, epoch=0)
    assert raised.value.reason.reference == "store-corrupt"


def test_a_source_that_changes_while_it_is_added_is_told(blobs: BlobStore, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "in", {"f": "one", "g": "gone"})
    tree = read_tree(folder)
    for change in (lambda: (folder / "f").write_text("two"), (folder / "g").unlink):
        change()
        with pytest.raises(RocmlockError) as raised, Publication(blobs.layout) as publication:
            add_tree(blobs, publication, tree)
        assert raised.value.reason.reference == "source-changed"
        (folder / "f").write_text("one")
