"""Invented notes of a hospital, with what was planted in them and where."""

from ziggurat.data.generators.notes._notes import PLANTED, hospital_notes, hospital_notes_schema, listed_names

__all__ = ["PLANTED", "hospital_notes", "hospital_notes_schema", "listed_names"]
