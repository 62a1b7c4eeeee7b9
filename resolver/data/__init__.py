"""The bundled snapshot of upstream facts: data, no code."""
