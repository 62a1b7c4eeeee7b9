"""What the pages say is held to the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def test_the_errors_page_is_what_the_code_says() -> None:
    from tools.errors_page import PAGE, render_page

    assert PAGE.read_text() == render_page()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_0-9-]+\.(?:py|toml|json|md|sh))`", page.read_text())
    upstream = ("docker/", "requirements/", "cmake/")
    for name in named:
        if not name.startswith(upstream):
            assert (ROOT / name).exists(), name


def test_every_field_of_the_lock_stands_on_its_page() -> None:
    import attrs

    from rocmlock.lockfile import model

    page = (ROOT / "docs/formats/lock.md").read_text()
    for value in vars(model).values():
        if isinstance(value, type) and attrs.has(value):
            for field in attrs.fields(value):
                name = field.name.replace("_", "-")
                singular = name.removesuffix("s")
                assert f"`{name}`" in page or singular in page, f"{value.__name__}.{name}"


def test_every_field_of_a_derivation_stands_on_its_page() -> None:
    import attrs

    from rocmlock.store.derivation import PREFIX, Derivation

    page = (ROOT / "docs/formats/keys.md").read_text()
    assert PREFIX in page
    for field in attrs.fields(Derivation):
        assert f"`{field.name}`" in page, field.name


def test_every_key_of_a_manifest_stands_on_its_page_and_its_example_parses() -> None:
    from pydantic import BaseModel

    from rocmlock.manifests import schema
    from rocmlock.manifests.loader import parse_manifest
    from rocmlock.resolver.recipe_names import package_names

    page = (ROOT / "docs/formats/manifest.md").read_text()
    for value in vars(schema).values():
        if isinstance(value, type) and issubclass(value, BaseModel):
            for field in value.model_fields.values():
                assert f"`{field.alias}`" in page, field.alias
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert parse_manifest(example, "example", package_names()).name


def test_the_readme_shows_what_the_help_lists() -> None:
    from rocmlock.cli.main import commands

    readme = (ROOT / "README.md").read_text()
    for name in commands.list_commands(None):  # pyright: ignore[reportArgumentType] -- it needs no context
        assert re.search(rf"`(.*, )?{name}\b|`{name}", readme), name


def test_every_key_of_a_recipe_stands_on_its_page_and_its_example_parses() -> None:
    from pydantic import BaseModel

    from rocmlock.resolver import recipe

    page = (ROOT / "docs/recipes.md").read_text()
    for value in vars(recipe).values():
        if isinstance(value, type) and issubclass(value, BaseModel):
            for field in value.model_fields.values():
                assert f"`{field.alias}`" in page, field.alias
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert recipe.parse_recipe(example, "example").name == "torchvision"
