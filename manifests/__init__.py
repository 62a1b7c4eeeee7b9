"""What people write: schema and loader of rocmlock.toml."""
