"""Mobility: who was where and when, communities of commuters, and trajectories that can leave.

`Ground` says which places are public and where they lie; `Trajectories` are ragged arrays of visits on it, read from
tables of any engine where a `VisitLayout` says that they stand.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.mobility._fare_cards import FareCardLayout, read_fare_cards
    from ziggurat.sequences.mobility._generator import DrawnVisits, TrajectoryGenerator
    from ziggurat.sequences.mobility._ground import Box, Ground
    from ziggurat.sequences.mobility._layout import Calendar, Cut, VisitLayout, domain_of_visits
    from ziggurat.sequences.mobility._reading import read_ground, read_trajectories, stream_trajectories
    from ziggurat.sequences.mobility._trajectories import HOURS, Fold, Trajectories, TrajectoryDomain
    from ziggurat.sequences.mobility.markov import MarkovTrajectories
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_fare_cards": "FareCardLayout read_fare_cards",
            "_generator": "DrawnVisits TrajectoryGenerator",
            "_ground": "Box Ground",
            "_layout": "Calendar Cut VisitLayout domain_of_visits",
            "_reading": "read_ground read_trajectories stream_trajectories",
            "_trajectories": "HOURS Fold Trajectories TrajectoryDomain",
            "markov": "MarkovTrajectories",
        },
    )

__all__ = [
    "HOURS",
    "Box",
    "Calendar",
    "Cut",
    "DrawnVisits",
    "FareCardLayout",
    "Fold",
    "Ground",
    "MarkovTrajectories",
    "Trajectories",
    "TrajectoryDomain",
    "TrajectoryGenerator",
    "VisitLayout",
    "domain_of_visits",
    "read_fare_cards",
    "read_ground",
    "read_trajectories",
    "stream_trajectories",
]
