"""A GitHub of our own on loopback: real HTTP, real git, the facts of a :class:`World`. Counts what it is asked."""

from .git import Made, make_repository
from .server import Fault, Seen, Server, serve
from .world import Commit, Release, Repository, Tag, World, fake_commit, read_world

__all__ = [
    "Commit",
    "Fault",
    "Made",
    "Release",
    "Repository",
    "Seen",
    "Server",
    "Tag",
    "World",
    "fake_commit",
    "make_repository",
    "read_world",
    "serve",
]
