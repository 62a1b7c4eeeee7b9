"""The Remote Execution API's messages (v2), as far as trees and actions need them.

Own minimal definitions with the API's field numbers: what is on the wire has no names, so any REAPI server
reads it. Only this module imports protobuf, and only what builds or reads trees imports this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from .digest import Digest
from .nodes import DirectoryNode, FileNode, Folder, SymlinkNode, check_folder

_STRING, _INT64, _BOOL, _BYTES = 9, 3, 8, 12
_PACKAGE = "rocmlock.reapi"

# Message -> fields as (name, number, type or message, repeated). Numbers: remote_execution.proto, v2.
_MESSAGES: dict[str, list[tuple[str, int, int | str, bool]]] = {
    "Digest": [("hash", 1, _STRING, False), ("size_bytes", 2, _INT64, False)],
    "FileNode": [
        ("name", 1, _STRING, False),
        ("digest", 2, "Digest", False),
        ("is_executable", 4, _BOOL, False),
    ],
    "DirectoryNode": [("name", 1, _STRING, False), ("digest", 2, "Digest", False)],
    "SymlinkNode": [("name", 1, _STRING, False), ("target", 2, _STRING, False)],
    "Directory": [
        ("files", 1, "FileNode", True),
        ("directories", 2, "DirectoryNode", True),
        ("symlinks", 3, "SymlinkNode", True),
    ],
    "Variable": [("name", 1, _STRING, False), ("value", 2, _STRING, False)],
    "Platform": [("properties", 1, "Variable", True)],
    "Command": [
        ("arguments", 1, _STRING, True),
        ("environment_variables", 2, "Variable", True),
        ("platform", 5, "Platform", False),
        ("working_directory", 6, _STRING, False),
        ("output_paths", 7, _STRING, True),
    ],
    "Action": [
        ("command_digest", 1, "Digest", False),
        ("input_root_digest", 2, "Digest", False),
        ("salt", 9, _BYTES, False),
        ("platform", 10, "Platform", False),
    ],
}


def _make_classes() -> dict[str, type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(name="rocmlock/reapi.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            made = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if isinstance(kind, str):
                made.type_name = f".{_PACKAGE}.{kind}"  # its type follows from the name
            else:
                made.type = kind  # pyright: ignore[reportAttributeAccessIssue] -- an enum, given as its number
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # pyright: ignore[reportUnknownMemberType] -- protobuf's stubs lack it
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


_CLASSES: dict[str, Any] = dict(_make_classes())


def _bytes(message: Any) -> bytes:
    return message.SerializeToString(deterministic=True)


def _digest(digest: Digest) -> Any:
    return _CLASSES["Digest"](hash=digest.hash, size_bytes=digest.size)


def encode_folder(folder: Folder) -> bytes:
    """Canonical Directory bytes: nodes sorted by the bytes of their names, each name once.

    ValueError for names or links that a tree must not hold.
    """
    check_folder(folder)
    message = _CLASSES["Directory"]()
    for file in sorted(folder.files, key=lambda node: node.name.encode()):
        message.files.add(name=file.name, digest=_digest(file.digest), is_executable=file.executable)
    for directory in sorted(folder.directories, key=lambda node: node.name.encode()):
        message.directories.add(name=directory.name, digest=_digest(directory.digest))
    for link in sorted(folder.symlinks, key=lambda node: node.name.encode()):
        message.symlinks.add(name=link.name, target=link.target)
    return _bytes(message)


def parse_folder(data: bytes) -> Folder:
    """The folder in Directory bytes. ValueError for what no tree may hold, and for any other form of it."""
    message = _CLASSES["Directory"]()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(f"not a Directory message: {error}") from None
    folder = Folder(
        files=tuple(
            FileNode(node.name, Digest(node.digest.hash, node.digest.size_bytes), node.is_executable)
            for node in message.files
        ),
        directories=tuple(
            DirectoryNode(node.name, Digest(node.digest.hash, node.digest.size_bytes))
            for node in message.directories
        ),
        symlinks=tuple(SymlinkNode(node.name, node.target) for node in message.symlinks),
    )
    if encode_folder(folder) != data:
        raise ValueError("the message is not canonical")
    return folder


def _platform(properties: Mapping[str, str]) -> Any:
    variables = [_CLASSES["Variable"](name=name, value=value) for name, value in sorted(properties.items())]
    return _CLASSES["Platform"](properties=variables)


def encode_command(
    arguments: Iterable[str],
    environment: Mapping[str, str],
    platform: Mapping[str, str],
    output_paths: Iterable[str],
    working_directory: str = "",
) -> bytes:
    """Canonical Command bytes: variables, properties and outputs sorted."""
    variables = [_CLASSES["Variable"](name=name, value=value) for name, value in sorted(environment.items())]
    return _bytes(
        _CLASSES["Command"](
            arguments=list(arguments),
            environment_variables=variables,
            platform=_platform(platform),
            output_paths=sorted(output_paths),
            working_directory=working_directory,
        )
    )


def encode_action(command: Digest, input_root: Digest, platform: Mapping[str, str]) -> bytes:
    """Canonical Action bytes."""
    return _bytes(
        _CLASSES["Action"](
            command_digest=_digest(command),
            input_root_digest=_digest(input_root),
            platform=_platform(platform),
        )
    )
