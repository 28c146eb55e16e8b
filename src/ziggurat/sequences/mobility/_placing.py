"""Which public place a row names, or which one its point is laid on, as an engine finds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Column, Kind, Schema
from ziggurat.data.expressions import cast_to, constant, is_filled, is_present, only_where, reference
from ziggurat.errors import ParameterError
from ziggurat.sequences._relational import window
from ziggurat.sequences.mobility._ground import Box, Ground
from ziggurat.sequences.mobility._layout import VisitLayout

_AROUND = [(east, north) for east in (-1, 0, 1) for north in (-1, 0, 1)]


@dataclass(frozen=True)
class Placing:
    """How rows get the code of their place.

    Parameters
    ----------
    columns
        What each row must bring along.
    lent
        A public table that the engine needs for it, if any.
    """

    columns: tuple[exp.Expr, ...]
    lent: pa.Table | None = None

    def code(self, rows: exp.Select, lent: exp.Expr | None) -> exp.Select:
        """Rows with the `code` of their place; those without a public place are left out."""
        assert lent is None
        return exp.select("*").from_(rows.subquery("placed")).where(is_filled(exp.column("code")))


@dataclass(frozen=True)
class _ByName(Placing):
    """The place has a public name."""

    def code(self, rows: exp.Select, lent: exp.Expr | None) -> exp.Select:
        """Join the names with their codes."""
        assert lent is not None
        same = exp.EQ(this=exp.column("place_name"), expression=exp.column("known_name"))
        return exp.select("*").from_(rows.subquery("named")).join(lent, on=same)


@dataclass(frozen=True)
class _ByDistance(Placing):
    """The place is the nearest one, if it is not too far.

    Every place stands in the nine squares around it, of the farthest distance each, so that a point is compared with
    the places of its own square alone.
    """

    within: float = 0.0

    def code(self, rows: exp.Select, lent: exp.Expr | None) -> exp.Select:
        """Find the place of every different point once, and join the points with it."""
        assert lent is not None
        keys = ["east", "north"]
        points = exp.select(*keys, "east_square", "north_square").distinct().from_(rows.subquery("everywhere"))
        same = [exp.EQ(this=exp.column(f"{each}_square"), expression=exp.column(f"{each}_of")) for each in keys]
        away = _distance("east", "north")
        near = exp.select(*keys, "place_code", away.as_("away")).from_(points.subquery("points"))
        near = near.join(lent, on=exp.and_(*same))
        nth = window(exp.RowNumber(), keys, ["away", "place_code"])
        reached = exp.LTE(this=exp.column("away"), expression=constant(self.within * self.within, Kind.REAL))
        ranked = exp.select(
            exp.column("east").as_("east_found"),
            exp.column("north").as_("north_found"),
            exp.column("place_code").as_("code"),
            nth.as_("nth"),
        )
        ranked = ranked.from_(near.subquery("near")).where(reached)
        first = exp.EQ(this=exp.column("nth"), expression=exp.Literal.number(1))
        nearest = exp.select("*").from_(ranked.subquery("ranked")).where(first)
        found = [exp.EQ(this=exp.column(each), expression=exp.column(f"{each}_found")) for each in keys]
        return exp.select("*").from_(rows.subquery("anywhere")).join(nearest.subquery("nearest"), on=exp.and_(*found))


def placing_of(schema: Schema, layout: VisitLayout, ground: Ground) -> Placing:
    """How rows of a table get the code of their place on a ground; no row is read."""
    if layout.place is not None:
        return place_by_name(schema[layout.place], ground)
    latitude, longitude = schema[layout.latitude or ""], schema[layout.longitude or ""]
    if layout.within is None:
        return Placing((_grid_cell(latitude, longitude, ground).as_("code"),))
    return _by_distance(latitude, longitude, ground, layout.within)


def place_by_name(column: Column, ground: Ground) -> Placing:
    """Places by their names: as whole numbers if the cells and all names are, and otherwise as texts."""
    numbers = column.storage is Kind.INTEGER and all(isinstance(name, int) for name in ground.names)
    cell = reference(column) if numbers else cast_to(reference(column), "TEXT")
    names = pa.array(ground.names, pa.int64()) if numbers else pa.array([str(name) for name in ground.names])
    known = pa.table({"known_name": names, "code": np.arange(ground.size)})
    return _ByName((only_where(is_present(column), cell).as_("place_name"),), known)


def _grid_cell(latitude: Column, longitude: Column, ground: Ground) -> exp.Expr:
    columns, rows = _shape_of_grid(ground)
    box = ground.require_points()[1]
    east = _step(longitude, box.west, box.east, columns)
    north = _step(latitude, box.south, box.north, rows)
    inside = exp.and_(_between(longitude, box.west, box.east), _between(latitude, box.south, box.north), copy=False)
    code = exp.Add(this=exp.Mul(this=east, expression=exp.Literal.number(rows)), expression=north)
    return only_where(inside, code)


def _shape_of_grid(ground: Ground) -> tuple[int, int]:
    points, box = ground.require_points()
    columns = len(np.unique(points[:, 0]))
    rows = max(ground.size // columns, 1)
    if ground != Ground.grid(box, columns, rows):
        raise ParameterError(
            "This ground is no grid; say with within=... how many kilometres a place may be away, or use Ground.grid."
        )
    return columns, rows


def _step(column: Column, low: float, high: float, count: int) -> exp.Expr:
    """The stripe of the box that a cell lies in; the far side belongs to the last."""
    share = exp.Div(this=exp.Paren(this=_minus(column, low)), expression=constant(high - low, Kind.REAL), typed=True)
    place = exp.Floor(this=exp.Mul(this=share, expression=constant(float(count), Kind.REAL)))
    capped = exp.Least(this=place, expressions=[constant(float(count - 1), Kind.REAL)], ignore_nulls=True)
    return cast_to(capped, "BIGINT")


def _between(column: Column, low: float, high: float) -> exp.Expr:
    ends = {"low": constant(low, Kind.REAL), "high": constant(high, Kind.REAL)}
    near = exp.Between(this=cast_to(reference(column), "DOUBLE"), **ends)
    return exp.and_(is_present(column), near, copy=False)


def _minus(column: Column, start: float) -> exp.Expr:
    return exp.Sub(this=cast_to(reference(column), "DOUBLE"), expression=constant(start, Kind.REAL))


def _by_distance(latitude: Column, longitude: Column, ground: Ground, within: float) -> Placing:
    points, box = ground.require_points()
    east, north = _kilometres(longitude, box, "east"), _kilometres(latitude, box, "north")
    asked = {"east": east, "north": north, "east_square": _square(east, within), "north_square": _square(north, within)}
    # Beyond the earth a square might not fit in 64 bits.
    sane = exp.and_(_between(longitude, -180.0, 180.0), _between(latitude, -90.0, 90.0), copy=False)
    columns = tuple(only_where(sane, value).as_(name) for name, value in asked.items())
    return _ByDistance(columns, _squares(points, within), within)


def _kilometres(column: Column, box: Box, side: str) -> exp.Expr:
    start, degrees, length = {
        "east": (box.west, box.east - box.west, box.width),
        "north": (box.south, box.north - box.south, box.height),
    }[side]
    return exp.Mul(this=exp.Paren(this=_minus(column, start)), expression=constant(length / degrees, Kind.REAL))


def _square(kilometres: exp.Expr, within: float) -> exp.Expr:
    share = exp.Div(this=exp.Paren(this=kilometres), expression=constant(within, Kind.REAL), typed=True)
    return cast_to(exp.Floor(this=share), "BIGINT")


def _squares(points: np.ndarray, within: float) -> pa.Table:
    own = np.floor(points / within).astype(np.int64)
    around = np.concatenate([own + np.array(step) for step in _AROUND])
    codes = np.tile(np.arange(len(points)), len(_AROUND))
    held = {"east_of": around[:, 0], "north_of": around[:, 1], "place_code": codes}
    return pa.table({**held, "place_east": points[codes, 0], "place_north": points[codes, 1]})


def _distance(*sides: str) -> exp.Expr:
    """The square of the distance in kilometres."""
    apart = [exp.Sub(this=exp.column(side), expression=exp.column(f"place_{side}")) for side in sides]
    east, north = (exp.Mul(this=exp.Paren(this=each), expression=exp.Paren(this=each)) for each in apart)
    return exp.Add(this=east, expression=north)
