"""`python -m gateway` is the `sekisho` command."""

from gateway.cli import main

if __name__ == "__main__":
    main()
