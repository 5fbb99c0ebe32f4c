"""``python -m eigensieve``: the same as the ``eigensieve`` script."""

from eigensieve.cli import main

if __name__ == "__main__":
    main()
