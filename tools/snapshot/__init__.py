"""Makes resolver/data/snapshot.json from a folder of collected facts. Run: python -m tools.snapshot --help."""
