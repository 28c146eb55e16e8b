"""`python -m ziggurat`: the same as the command `ziggurat`."""

from ziggurat.cli import main

if __name__ == "__main__":
    main()
