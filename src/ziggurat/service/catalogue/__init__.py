"""The tables of a service: what is publicly known of each, where it lies, and files that were brought."""

from ziggurat.service.catalogue._shelf import ShelvedTable, TableShelf, read_schema, refuse_damaged
from ziggurat.service.catalogue._uploads import Upload, UploadFolder

__all__ = ["ShelvedTable", "TableShelf", "Upload", "UploadFolder", "read_schema", "refuse_damaged"]
