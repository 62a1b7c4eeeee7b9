"""A lock of one target in the formats of other tools: one module a format. Pure."""
