"""``python -m rocmlock``: the same as the ``rocmlock`` command."""

from .cli.main import main

if __name__ == "__main__":
    main()
