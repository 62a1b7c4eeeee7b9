"""Facts in Python files, read from their syntax tree; nothing is ever run or imported.

Used for PyTorch's ``.github/scripts/generate_binary_build_matrix.py``, Triton's
``python/triton/__init__.py`` and ``setup.py``, PyTorch's ``setup.py``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import RocmlockError
from .source_text import Stated, check_text, refuse

_MAX_SOURCE = 1 << 20


@dataclass(frozen=True, slots=True)
class BinaryMatrix:
    """What PyTorch builds binaries for: ROCm versions and Pythons (``3.13t``), each with its line."""

    rocm: tuple[Stated, ...]
    pythons: tuple[Stated, ...]


def parse_binary_matrix(text: str, path: str) -> BinaryMatrix:
    """``ROCM_ARCHES`` and ``FULL_PYTHON_VERSIONS``. Raises PIN_UNREADABLE where one is no list of texts."""
    tree = _parse(text, path)
    return BinaryMatrix(
        _texts(tree, "ROCM_ARCHES", path),
        _texts(tree, "FULL_PYTHON_VERSIONS", path),
    )


def parse_module_version(text: str, path: str, name: str = "__version__") -> Stated:
    """The text that a module gives to ``__version__``, once and outside of any function."""
    found = list(_assigned(_parse(text, path), name))
    if len(found) != 1:
        line = found[1].lineno if found else 0
        raise refuse(path, line, f"{name} is assigned {len(found)} times, where once is expected.")
    return _text(found[0], name, path)


def parse_assignment(text: str, path: str, name: str) -> tuple[Stated, ...]:
    """The texts that a module gives to ``name``, once and outside of any function: a text or a list of them.

    Raises PIN_UNREADABLE where it is not assigned once, or is something else.
    """
    tree = _parse(text, path)
    values = list(_assigned(tree, name))
    if len(values) == 1 and isinstance(values[0], ast.Constant):
        return (_text(values[0], name, path),)
    return _texts(tree, name, path)


def parse_setup_argument(text: str, path: str, argument: str) -> Stated | None:
    """An argument of ``setup(…)`` that is a text, or a name, sum or ``f""`` of texts; None where it is not
    given.

    A part that only running tells (a function's answer) is left out at the end of a sum: Triton's version is
    ``"3.7.1" + get_version_suffix()``.
    """
    tree = _parse(text, path)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _is_setup(call.func):
            for keyword in call.keywords:
                if keyword.arg == argument:
                    return _leading_text(tree, keyword.value, argument, path)
    return None


def _parse(text: str, path: str) -> ast.Module:
    text = check_text(text, path)
    if len(text) > _MAX_SOURCE:
        raise refuse(path, 0, f"The file has {len(text)} characters; no build script is that large.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes in upstream's texts are not ours to warn of
            return ast.parse(text)
    except SyntaxError as error:
        raise refuse(
            path, error.lineno or 0, f"This is no Python: {error.msg}.", column=error.offset or 0
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise refuse(path, 0, "The file is nested too deep to be read.") from None


def _assigned(tree: ast.Module, name: str) -> Iterator[ast.expr]:
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            yield node.value


def _texts(tree: ast.Module, name: str, path: str) -> tuple[Stated, ...]:
    found = list(_assigned(tree, name))
    if len(found) != 1:
        line = found[1].lineno if found else 0
        raise refuse(path, line, f"{name} is assigned {len(found)} times, where once is expected.")
    value = found[0]
    if not isinstance(value, ast.List | ast.Tuple) or not value.elts:
        raise refuse(path, value.lineno, f"{name} is no list of texts.")
    return tuple(_text(item, name, path) for item in value.elts)


def _text(node: ast.expr, name: str, path: str) -> Stated:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise refuse(
            path, node.lineno, f"{name} holds something other than texts.", column=node.col_offset + 1
        )
    return Stated(node.value, node.lineno)


def _is_setup(function: ast.expr) -> bool:
    return (isinstance(function, ast.Name) and function.id == "setup") or (
        isinstance(function, ast.Attribute) and function.attr == "setup"
    )


def _leading_text(tree: ast.Module, node: ast.expr, name: str, path: str, depth: int = 0) -> Stated:
    if depth > 8:
        raise refuse(path, node.lineno, f"{name} is built up in too many steps.")
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Stated(node.value, node.lineno)
    if isinstance(node, ast.Name):
        values = list(_assigned(tree, node.id))
        if len(values) == 1:
            return _leading_text(tree, values[0], name, path, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        first = _leading_text(tree, node.left, name, path, depth + 1)
        try:
            rest = _leading_text(tree, node.right, name, path, depth + 1)
        except RocmlockError:
            if isinstance(node.right, ast.Call):
                return first
            raise
        return Stated(first.value + rest.value, first.line)
    if isinstance(node, ast.JoinedStr) and node.values:
        head = node.values[0]
        return _leading_text(
            tree, head.value if isinstance(head, ast.FormattedValue) else head, name, path, depth + 1
        )
    raise refuse(path, node.lineno, f"{name} is only known when the file is run.", column=node.col_offset + 1)
