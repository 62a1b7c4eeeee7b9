"""rocmlock: pins, builds and proves the ROCm stack from source. This module holds the version only."""

__version__ = "0.1.0"
