"""Invented tables by their names."""

import pyarrow as pa

from ziggurat.data.generators._city import city_places, city_places_schema, city_visits, city_visits_schema
from ziggurat.data.generators._clinic import clinic_patients, clinic_patients_schema
from ziggurat.data.generators._commuters import commuters, commuters_schema
from ziggurat.data.generators._fare_cards import fare_cards, fare_cards_schema
from ziggurat.data.generators._headlines import headlines, headlines_schema
from ziggurat.data.generators._logs import log_sequences, log_sequences_schema
from ziggurat.data.schema import Schema
from ziggurat.errors import ParameterError

INVENTED = ("city_places", "city_visits", "clinic", "commuters", "fare_cards", "headlines", "logs")
"""The names of invented tables."""


def invent(what: str, rows: int, seed: int) -> tuple[pa.Table, Schema]:
    """Return an invented table and its schema, by name; the places of the city are always those of its visits."""
    if what == "city_visits":
        return city_visits(rows, seed=seed), city_visits_schema()
    if what == "city_places":
        return city_places(seed=seed), city_places_schema()
    if what == "clinic":
        return clinic_patients(rows, seed=seed), clinic_patients_schema()
    if what == "fare_cards":
        return fare_cards(rows, seed=seed), fare_cards_schema()
    if what == "headlines":
        return headlines(rows, seed=seed), headlines_schema()
    if what == "logs":
        return log_sequences(rows, seed=seed), log_sequences_schema()
    if what == "commuters":
        return commuters(members=rows, seed=seed), commuters_schema()
    raise ParameterError(
        "Say what to invent: clinic, logs, commuters, fare_cards, city_visits, city_places or headlines."
    )
