"""To be filled."""

from messy_file import MessyFile

FILES: tuple[MessyFile, ...] = ()
