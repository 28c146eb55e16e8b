"""From several rows of a person to one, and from two tables about the same people to one.

`reshape_people` keeps the latest or the first row of everybody, or computes aggregates of all of them within declared
bounds; `join_people` lays two tables side by side. Both run in the engine that holds the tables. What they return is as
private as what they read.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.people._aggregates import AGGREGATES, PersonAggregate, read_aggregate
    from ziggurat.data.people._join import join_people
    from ziggurat.data.people._people_table import PeopleTable
    from ziggurat.data.people._reshape import reshape_people
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_aggregates": "AGGREGATES PersonAggregate read_aggregate",
            "_join": "join_people",
            "_people_table": "PeopleTable",
            "_reshape": "reshape_people",
        },
    )

__all__ = ["AGGREGATES", "PeopleTable", "PersonAggregate", "join_people", "read_aggregate", "reshape_people"]
