"""Makes resolver/data/snapshot.json from a folder of collected facts: python -m tools.snapshot --help."""
