"""A release that is asked for from afar is one job, however often its request is sent."""

from __future__ import annotations

import pytest

pytest.importorskip("ziggurat.service.work", reason="the service does no long work here")

from cut_lines import cut_for

DESCRIBED = {
    "format": "ziggurat/release/1",
    "table": "clinic",
    "release": {
        "kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.1", "rows_per_unit": 1,
    },
}  # fmt: skip


def test_a_release_whose_answer_was_lost_is_one_job(clinic, side):
    ana = clinic.connect("ana", side, cut_for(clinic, side, 2, path="/v1/releases"))
    asked = ana.run_release(DESCRIBED)
    assert [each.id for each in ana.jobs()] == [asked.id]


def test_without_the_same_key_it_would_be_two(clinic, side):
    """The control: nothing but the key tells the second request from another release."""
    ana = clinic.connect("ana", side, cut_for(clinic, side, 1, path="/v1/releases", new_key=True))
    ana.run_release(DESCRIBED)
    assert len(ana.jobs()) == 2
