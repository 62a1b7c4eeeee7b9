"""The figures that the project is held to, measured on an installed wheel. Not a test: see __main__.py."""
