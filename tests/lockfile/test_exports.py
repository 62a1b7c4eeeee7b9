"""Locks in the formats of other tools, read back by those tools or their own libraries."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lock_samples
import pytest
from attrs import evolve
from harness import check_golden
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.pylock import Pylock
from packaging.requirements import Requirement

from rocmlock.errors import RocmlockError
from rocmlock.lockfile.codec import parse_lock, render_lock
from rocmlock.lockfile.exports.constraints import render_constraints
from rocmlock.lockfile.exports.cyclonedx import render_cyclonedx
from rocmlock.lockfile.exports.dockerfile import render_dockerfile
from rocmlock.lockfile.exports.exported import Exported
from rocmlock.lockfile.exports.pylock import render_pylock
from rocmlock.lockfile.exports.therock import render_therock
from rocmlock.lockfile.model import GitSource, Lock, Package, PathSource, Requires, Wheel, WheelFile
from rocmlock.lockfile.names import commit, content_digest, file_name
from rocmlock.resolver.readers.dockerfile import parse_dockerfile
from rocmlock.resolver.readers.therock_files import parse_therock_manifest

GOLDEN = Path(__file__).parent.parent / "golden" / "exports"
RENDERERS: dict[str, Callable[[Lock], Exported]] = {
    "pylock.toml": render_pylock,
    "constraints.txt": render_constraints,
    "Dockerfile": render_dockerfile,
    "therock.json": render_therock,
    "cyclonedx.json": render_cyclonedx,
}


def made_commit(name: str):
    """A commit that looks like one: readers refuse a digit forty times as a placeholder."""
    return commit(hashlib.sha1(name.encode()).hexdigest())


def git_package(name: str, distribution: str, url: str, **more: Any) -> Package:
    triton = lock_samples.full().packages[0]
    return Package(
        name,
        distribution,
        GitSource(url, made_commit(name), more.pop("tag", "")),
        triton.targets,
        triton.gfx,
        triton.steps,
        triton.checks,
        **more,
    )


def sample() -> Lock:
    """The full sample with a package of each kind of source."""
    full = lock_samples.full()
    triton, msgspec = full.packages
    return evolve(
        full,
        packages=(
            evolve(triton, source=evolve(triton.source, commit=made_commit("triton"))),
            msgspec,
            git_package(
                *("pytorch", "torch", "https://github.com/ROCm/pytorch.git"),
                version="2.11.0",
                run=Requires(
                    ("triton",), ('numpy>=2; python_version >= "3"', 'numpy; sys_platform == "win32"')
                ),
            ),
            git_package(
                *("torchvision", "torchvision", "https://github.com/pytorch/vision"),
                version="0.24.1",
                tag="v0.24.1",
            ),
            git_package("our-tools", "our-tools", "https://t0ken@git.corp.example/o/tools?token=t0ken"),
            evolve(lock_samples.small().packages[0], targets=("default",)),
        ),
    )


SAMPLE = sample()


@pytest.mark.parametrize("name", RENDERERS)
def test_golden(name: str) -> None:
    exported = RENDERERS[name](SAMPLE)
    notes = "".join(f"{note}\n" for note in exported.notes)
    check_golden(GOLDEN / name, exported.text)
    check_golden(GOLDEN / f"{name}.notes", notes)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_equal_locks_give_equal_bytes(random) -> None:
    packages, wheels = list(SAMPLE.packages), list(SAMPLE.wheels)
    random.shuffle(packages)
    random.shuffle(wheels)
    shuffled = parse_lock(
        render_lock(evolve(SAMPLE, packages=tuple(packages), wheels=tuple(wheels))), "x.lock"
    )
    for render in RENDERERS.values():
        assert render(shuffled).text == render(parse_lock(render_lock(SAMPLE), "x.lock")).text


@pytest.mark.parametrize("name", RENDERERS)
def test_no_secret_and_no_index_stands_in_an_export(name: str) -> None:
    exported = RENDERERS[name](SAMPLE)
    assert "t0ken" not in exported.text + "".join(exported.notes)
    assert "files.pythonhosted" not in exported.text


def test_pylock_by_packaging() -> None:
    pylock = Pylock.from_dict(tomllib.loads(render_pylock(SAMPLE, "../files").text))
    found = {str(package.name): package for package in pylock.packages}
    assert sorted(found) == ["kernels", "msgspec", "numpy", "our-tools", "torch", "torchvision", "triton"]
    numpy = found["numpy"].wheels
    assert numpy is not None
    assert (numpy[0].path, dict(numpy[0].hashes)) == (
        "../files/numpy-2.3.5-py3-none-any.whl",
        {"sha256": "8" * 64},
    )
    vcs = found["triton"].vcs
    assert vcs is not None
    assert (vcs.commit_id, vcs.requested_revision) == (made_commit("triton"), "v3.6.0")
    assert found["triton"].version is None
    assert found["triton"].tool is not None
    assert found["triton"].tool["rocmlock"]["picks"] == ["4" * 40]
    assert found["kernels"].directory is not None
    assert found["msgspec"].sdist is not None


def test_pylock_is_installed_by_uv(tmp_path: Path) -> None:
    """A real wheel, found by name in the folder beside the file and checked by its hash."""
    wheel = tmp_path / "wheels" / "numpy-2.3.5-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in (
            ("numpy.py", "version = 'ours'\n"),
            ("numpy-2.3.5.dist-info/METADATA", "Metadata-Version: 2.1\nName: numpy\nVersion: 2.3.5\n"),
            ("numpy-2.3.5.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("numpy-2.3.5.dist-info/RECORD", ""),
        ):
            archive.writestr(name, text)
    digest = content_digest(f"sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    (target,) = SAMPLE.targets
    here = evolve(
        target,
        python=evolve(
            target.python,
            version=f"{sys.version_info[0]}.{sys.version_info[1]}",
            platform=f"manylinux_2_34_{platform.machine()}",
        ),
    )
    file = WheelFile(file_name(wheel.name), digest, ("default",))
    lock = evolve(SAMPLE, targets=(here,), packages=(), wheels=(Wheel("numpy", "2.3.5", (file,)),))
    done = sync(tmp_path, lock)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "into" / "numpy.py").read_text() == "version = 'ours'\n"
    other = evolve(file, digest=lock_samples.digest("8"))
    wrong = sync(tmp_path, evolve(lock, wheels=(Wheel("numpy", "2.3.5", (other,)),)))
    assert "Hash mismatch" in wrong.stderr


def sync(folder: Path, lock: Lock) -> subprocess.CompletedProcess[str]:
    (folder / "pylock.toml").write_text(render_pylock(lock).text)
    uv = [sys.executable, "-m", "uv", "pip", "sync", "--offline", "--no-config", "--reinstall", "--no-cache"]
    command = [*uv, "--python", sys.executable, "--target", "into", "pylock.toml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_constraints_are_requirements() -> None:
    lines = [line.partition("  #")[0] for line in render_constraints(SAMPLE).text.splitlines()[1:]]
    requirements = [Requirement(line) for line in lines]
    assert {each.name: str(each.specifier) for each in requirements} == {
        "msgspec": "==0.23.0",
        "numpy": "==2.3.5",
        "torch": "==2.11.0",
        "torchvision": "==0.24.1",
        "triton": "==3.6.0",
    }


@pytest.mark.parametrize("name", ["x\n--index-url y", "x --index-url y", "x[e]", "x @ y", "x;"])
def test_a_name_cannot_become_an_option(name: str) -> None:
    package = evolve(SAMPLE.packages[0], distribution=name)
    with pytest.raises(RocmlockError) as raised:
        render_constraints(evolve(SAMPLE, packages=(package,)))
    assert raised.value.reason.reference == "export-unsupported"


def test_dockerfile_by_our_reader_of_dockerfiles() -> None:
    text = render_dockerfile(SAMPLE).text + "FROM scratch\n"
    scope = parse_dockerfile(text, "Dockerfile").global_scope
    values = {name: setting.value for name, setting in scope.items()}
    assert values["PYTORCH_BRANCH"] == made_commit("pytorch")
    assert values["PYTORCH_VISION_REPO"] == "https://github.com/pytorch/vision"
    assert values["TRITON_BRANCH"] == made_commit("triton")
    assert values["OUR_TOOLS_BRANCH"] == made_commit("our-tools")
    assert values["PYTORCH_ROCM_ARCH"] == "gfx90a;gfx942"


@pytest.mark.parametrize("url", ['x"$(rm)', "a\\", "${HOME}", "a b"])
def test_an_arg_holds_what_the_lock_says(url: str) -> None:
    lock = evolve(SAMPLE, packages=(git_package("x", "x", url),))
    scope = parse_dockerfile(render_dockerfile(lock).text + "FROM scratch\n", "Dockerfile").global_scope
    assert scope["X_REPO"].value == url


def test_an_arg_cannot_become_another_line() -> None:
    lock = evolve(SAMPLE, packages=(git_package("x", "x", "a\nRUN rm"),))
    with pytest.raises(RocmlockError) as raised:
        render_dockerfile(lock)
    assert raised.value.reason.reference == "export-unsupported"


def test_therock_by_our_reader_of_its_manifests() -> None:
    manifest = parse_therock_manifest(render_therock(SAMPLE).text, "m.json")
    assert [(pin.name, pin.commit, pin.branch) for pin in manifest.pins] == [
        ("pytorch", made_commit("pytorch"), ""),
        ("our_tools", made_commit("our-tools"), ""),
        ("pytorch_vision", made_commit("torchvision"), "v0.24.1"),
        ("triton", made_commit("triton"), "v3.6.0"),
    ]


@pytest.mark.parametrize("render", [render_dockerfile, render_therock])
def test_a_lock_that_builds_nothing_from_git(render: Callable[[Lock], Exported]) -> None:
    with pytest.raises(RocmlockError) as raised:
        render(lock_samples.small())
    assert raised.value.reason.reference == "export-unsupported"


def test_bill_of_materials_by_its_own_library() -> None:
    from cyclonedx.model.bom import Bom

    document = json.loads(render_cyclonedx(SAMPLE).text)
    bom: Any = Bom.from_json(document)  # pyright: ignore[reportAttributeAccessIssue] -- added by a decorator
    bom.validate()
    purls = {
        component.bom_ref.value: component.purl and component.purl.to_string() for component in bom.components
    }
    assert purls["package:triton"] == f"pkg:github/rocm/triton@{made_commit('triton')}"
    assert purls["package:msgspec"] == "pkg:pypi/msgspec@0.23.0?file_name=msgspec-0.23.0.tar.gz"
    assert purls["package:kernels"] is None
    assert (
        purls["package:our-tools"]
        == f"pkg:generic/our-tools?vcs_url=git%2Bhttps://git.corp.example/o/tools%40{made_commit('our-tools')}"
    )
    assert purls["wheel:numpy==2.3.5"] == "pkg:pypi/numpy@2.3.5?file_name=numpy-2.3.5-py3-none-any.whl"
    needs = {row["ref"]: row.get("dependsOn", []) for row in document["dependencies"]}
    assert needs["package:pytorch"] == ["package:triton", "wheel:numpy==2.3.5"]
    assert needs["package:triton"] == ["download:triton:llvm.tar.gz", "wheel:cmake==3.31.6"]
    assert "wheel:numpy==2.3.5" not in needs
    scopes = {component["bom-ref"]: component["scope"] for component in document["components"]}
    assert (scopes["wheel:numpy==2.3.5"], scopes["wheel:cmake==3.31.6"]) == ("required", "excluded")
    assert "timestamp" not in document["metadata"]


def test_bill_of_materials_by_its_schema() -> None:
    pytest.importorskip("jsonschema", reason="the library's schema validator needs its extra")
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(render_cyclonedx(SAMPLE).text) is None


def test_the_serial_number_is_the_locks() -> None:
    def serial(lock: Lock) -> str:
        return json.loads(render_cyclonedx(lock).text)["serialNumber"]

    assert serial(SAMPLE) == serial(parse_lock(render_lock(SAMPLE), "x.lock"))
    assert serial(SAMPLE) != serial(evolve(SAMPLE, name="other"))


def test_a_local_folder_is_told_of() -> None:
    lock = lock_samples.small()
    assert isinstance(lock.packages[0].source, PathSource)
    for render in (render_pylock, render_cyclonedx):
        assert any("kernels" in note for note in render(lock).notes)
