"""The Lock: model, TOML codec, check. Never touches the network."""
