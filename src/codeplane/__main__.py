"""`python -m codeplane` is `cpl`."""

from codeplane.surfaces.cli.entry import main

if __name__ == "__main__":
    main()
