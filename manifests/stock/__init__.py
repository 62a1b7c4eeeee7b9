"""Manifests that are shipped: data, no code."""
