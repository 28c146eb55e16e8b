"""The tables of a service: what is publicly known of each, where it lies, and files that were brought."""

from ziggurat.service.catalogue._models import MODEL_KINDS, ModelShelf, ShelvedModel
from ziggurat.service.catalogue._opened import OpenedModel, open_rows
from ziggurat.service.catalogue._populations import PopulationBook, tell_promise
from ziggurat.service.catalogue._releases import ReleaseShelf, ShelvedRelease
from ziggurat.service.catalogue._shelf import ShelvedTable, TableShelf, read_schema, refuse_damaged, show_public
from ziggurat.service.catalogue._uploads import Upload, UploadFolder

__all__ = [
    "MODEL_KINDS",
    "ModelShelf",
    "OpenedModel",
    "PopulationBook",
    "ReleaseShelf",
    "ShelvedModel",
    "ShelvedRelease",
    "ShelvedTable",
    "TableShelf",
    "Upload",
    "UploadFolder",
    "open_rows",
    "read_schema",
    "refuse_damaged",
    "show_public",
    "tell_promise",
]
