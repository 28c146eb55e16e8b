"""Trajectories and communities of a table of visits on a server: the same options, as a release of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.cli.mobility._communities import CommunityOptions
    from ziggurat.cli.mobility._options import VisitOptions
    from ziggurat.cli.mobility._synthesize import PaidOptions
    from ziggurat.client import Server

_HERE = ("person", "schema", "table", "unreadable", "save", "ledger", "budget")
"""What means something on this machine alone."""
_SAME = ("time", "place", "latitude", "longitude", "trip", "cut", "gap", "starts", "least", "longest", "within")
_CALENDAR = ("epoch", "tick", "zone", "pattern")


def trajectories_on(data: str, visits: VisitOptions, paid: PaidOptions) -> jobs.LeftServer:
    """Draw trajectories on a server."""
    _refuse(visits, paid)
    asked = {
        "kind": "trajectories", "method": paid.method, "epsilon": paid.epsilon, "delta": paid.delta,
        "trajectories_per_person": paid.trajectories_per_person, "count": paid.count,
        "holdout": descriptions.read_share(paid.holdout), "canaries": paid.canaries,
    }  # fmt: skip
    return _run(data, visits, paid, asked)


def communities_on(data: str, visits: VisitOptions, asked: CommunityOptions) -> jobs.LeftServer:
    """Describe communities on a server, with a guarantee: raw ones are for whoever holds the table."""
    if not asked.epsilon:
        raise ParameterError("A server describes communities with a guarantee alone; say --epsilon.")
    _refuse(visits, asked)
    regions: Any = int(asked.region) if asked.region.isdecimal() else asked.region
    said = {
        "kind": "communities", "epsilon": asked.epsilon, "delta": asked.delta, "communities": asked.communities,
        "visits_per_person": asked.visits_per_person,
        "options": descriptions.leave_out_nothing({"fold": asked.fold, "regions": regions}),
    }  # fmt: skip
    return _run(data, visits, asked, said)


def _refuse(visits: VisitOptions, paid: PaidOptions | CommunityOptions) -> None:
    refuse_local("data", *(name for name in (*vars(visits), *vars(paid)) if name not in _HERE))


def _run(
    data: str, visits: VisitOptions, paid: PaidOptions | CommunityOptions, asked: dict[str, Any]
) -> jobs.LeftServer:
    with open_server(paid.server) as server:
        descriptions.find_declared(server, data)
        release = {**_describe(server, visits), **asked, "out": descriptions.table_file(paid.out)}
        more = {"note": paid.note, "analyst": paid.analyst, "rehearse": paid.rehearse}
        said = descriptions.make_description(data, release, **more)
        if paid.quote:
            jobs.price_described(server, said, as_json=paid.as_json)
        left = jobs.run_described(server, said, jobs.bundle_beside(paid.out), paid.go_on, force=paid.force)
    left.take({release["out"]: paid.out}, force=paid.force)
    return left


def _describe(server: Server, visits: VisitOptions) -> dict[str, Any]:
    """Say where visits stand, and which places are public: a table of the server, or a file that is sent there."""
    said: dict[str, Any] = {name: getattr(visits, name) for name in _SAME}
    said["calendar"] = descriptions.leave_out_nothing({name: getattr(visits, name) for name in _CALENDAR})
    ground = visits.ground_words()
    if visits.places:
        ground["table"] = descriptions.send_if_file(server, visits.places)
    return said | {"places": ground}
