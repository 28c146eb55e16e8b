"""Invented data, with no person in it, for rehearsals, examples and tests.

Each generator returns a plain Arrow table and has a companion `*_schema` that declares its public bounds and
categories. All randomness is seeded: an invented table can be made again from its parameters.
"""

from ziggurat.data.generators._city import city_places, city_places_schema, city_visits, city_visits_schema
from ziggurat.data.generators._clinic import clinic_patients, clinic_patients_schema
from ziggurat.data.generators._commuters import commuters, commuters_schema
from ziggurat.data.generators._fare_cards import fare_card_stops, fare_cards, fare_cards_schema
from ziggurat.data.generators._headlines import headlines, headlines_schema
from ziggurat.data.generators._invented import INVENTED, invent
from ziggurat.data.generators._logs import accepts_log, log_sequences, log_sequences_schema, log_vocabulary

__all__ = [
    "INVENTED",
    "accepts_log",
    "city_places",
    "city_places_schema",
    "city_visits",
    "city_visits_schema",
    "clinic_patients",
    "clinic_patients_schema",
    "commuters",
    "commuters_schema",
    "fare_card_stops",
    "fare_cards",
    "fare_cards_schema",
    "headlines",
    "headlines_schema",
    "invent",
    "log_sequences",
    "log_sequences_schema",
    "log_vocabulary",
]
