"""The tables of a service: what is publicly known of each, where it lies, and files that were brought."""

from ziggurat.service.catalogue._populations import PopulationBook, tell_promise
from ziggurat.service.catalogue._shelf import ShelvedTable, TableShelf, read_schema
from ziggurat.service.catalogue._uploads import Upload, UploadFolder

__all__ = [
    "PopulationBook",
    "ShelvedTable",
    "TableShelf",
    "Upload",
    "UploadFolder",
    "read_schema",
    "tell_promise",
]
