"""An audit on invented rows: it stands on the certificate, and a promise that it refutes is never paid for."""

import numpy as np
import pytest

from ziggurat.errors import PrivacyError
from ziggurat.learn import GaussianNB
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.release import fit_model
from ziggurat.release.bundle._pages import public_page

ROWS = np.random.default_rng(1).uniform(-1, 1, size=(60, 1))
LABELS = (ROWS[:, 0] > 0).astype(int)


class Understated(GaussianNB):
    """Plans a twentieth of what it spends."""

    def planned(self, rows, columns):
        honest = GaussianNB(**{**self.get_params(), "epsilon": self.epsilon / 20})
        return honest.planned(rows, columns)


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as opened:
        opened.create_budget("rows", 30, "1e-5", Neighbours())
        opened.grant("rows", "ada", 30, "1e-5")
        yield opened


def _fit(book, kind, **options):
    model = kind(classes=2, bounds=(-1, 1), delta=0, random_state=1, **options)
    return fit_model(model, ROWS, LABELS, ledger=book, analyst="ada", budget="rows", audit=200)


def test_what_was_found_stands_on_the_certificate_and_on_the_page(book):
    made = _fit(book, GaussianNB, epsilon=1)
    held = made.release.certificate.to_dict()
    assert held["audited"] == dict(made.audited)
    assert held["audited"]["runs"] == 200
    assert held["audited"]["claimed"] == "1"
    page = public_page({**held, "rehearsal": False, "randomness": "secure", "sentence": "x"}, "", False)
    assert "How the promise was audited" in page
    assert "on invented data (200 runs" in page


def test_a_certificate_without_an_audit_is_as_it_was(book):
    model = GaussianNB(classes=2, bounds=(-1, 1), delta=0, random_state=1)
    made = fit_model(model, ROWS, LABELS, ledger=book, analyst="ada", budget="rows")
    held = made.release.certificate.to_dict()
    assert made.audited is None
    assert "audited" not in held
    assert "How the promise was audited" not in public_page(held, "", True)


def test_a_refuted_promise_stops_before_anything_is_paid(book):
    with pytest.raises(PrivacyError, match="The promise is false"):
        _fit(book, Understated, epsilon=20)
    assert not [entry for entry in book.history("rows") if entry.kind == "reserve"]
