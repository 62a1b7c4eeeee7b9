"""One TOML per upstream project: data, no code. The resolver reads it."""
