"""The command line: a thin door that plans, runs and inspects."""

from ziggurat.cli._app import app, main

__all__ = ["app", "main"]
