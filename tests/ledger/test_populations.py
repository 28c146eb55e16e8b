"""One account per population: whatever is released about the same people adds up in one place."""

from fractions import Fraction

import pytest

from ziggurat.data import Unit
from ziggurat.errors import BudgetExceededError, LedgerUseError, MixedNeighboursError
from ziggurat.ledger import Ledger, Replay, verify_ledger
from ziggurat.privacy import (
    ApproximateEvent,
    GaussianEvent,
    Neighbours,
    PureEvent,
    Relation,
    SampledGaussianEvent,
    ZeroConcentratedEvent,
    compose,
    profile,
)

PERSON = Unit.person("patient")
ADDED = Neighbours(PERSON)
REPLACED = Neighbours(PERSON, Relation.REPLACE_ONE)
LABEL = Neighbours(Unit.of("cost", "label"), Relation.REPLACE_ONE)


@pytest.fixture
def account(opened):
    """A population 'clinic' with a budget of (6, 1e-6), of which 'ada' holds all."""
    ledger: Ledger = opened()
    ledger.create_budget("clinic", "6", "1e-6", ADDED)
    ledger.grant("clinic", "ada", "6", "1e-6", "sum")
    return ledger


def spend(ledger, name, event, question=None):
    with ledger.spend(name, "ada", event, question) as made:
        if not made.replayed:
            made.commit("an answer")
    return made.outcome


def test_tables_of_one_population_share_one_budget(account):
    account.register("visits", "clinic")
    account.register("labs", "clinic")
    spend(account, "clinic", PureEvent(ADDED, "1"))
    spend(account, "visits", PureEvent(ADDED, "2"))
    spend(account, "labs", PureEvent(ADDED, "0.5"))
    for name in ("clinic", "visits", "labs"):
        assert account.left(name, "ada") == Fraction(5, 2)
        assert account.population(name) == "clinic"
        assert account.statement(name).table == "clinic"
    with pytest.raises(BudgetExceededError):
        account.reserve("visits", "ada", PureEvent(ADDED, "3"))
    assert account.populations() == ["clinic"]
    assert account.verify().ok


def test_without_registration_the_same_people_have_two_accounts(account):
    """The control: names that nobody declared to be about the same people are not added up."""
    account.create_budget("visits", "6", "1e-6", ADDED)
    account.grant("visits", "ada", "6", "1e-6", "sum")
    spend(account, "visits", PureEvent(ADDED, "2"))
    assert account.left("clinic", "ada") == 6
    assert account.populations() == ["clinic", "visits"]


def test_a_table_counts_by_its_own_column(account):
    account.register("visits", "clinic", "pid")
    here = Neighbours(Unit.person("pid"))
    spend(account, "visits", PureEvent(here, "1"))
    assert account.left("clinic", "ada") == 5
    assert account.paying("visits", here).table == "clinic"
    with pytest.raises(MixedNeighboursError):
        account.reserve("visits", "ada", PureEvent(Neighbours(Unit.person("doctor")), "1"))
    with pytest.raises(MixedNeighboursError):
        account.reserve("clinic", "ada", PureEvent(here, "1"))
    assert account.left("clinic", "ada") == 5


@pytest.mark.parametrize(
    ("event", "amount", "twice"),
    [
        (PureEvent(ADDED, "1/4"), "epsilon", Fraction(1, 2)),
        (ZeroConcentratedEvent(ADDED, "1/100"), "rho", Fraction(4, 100)),
        (GaussianEvent(ADDED, 1, 10), "mu_squared", Fraction(4, 100)),
    ],
)
def test_a_replace_one_budget_counts_an_added_unit_as_a_group_of_two(opened, event, amount, twice):
    ledger = opened()
    ledger.create_budget("clinic", "2", "1e-5", REPLACED)
    ledger.grant("clinic", "ada", "2", "1e-5")
    counted = ledger.as_counted("clinic", event)
    assert counted.neighbours == REPLACED
    assert getattr(profile(counted), amount) == twice
    spend(ledger, "clinic", event)
    (grant,) = ledger.statement("clinic").grants
    assert getattr(grant.spent, amount) == twice


def test_a_delta_grows_as_group_privacy_says(opened):
    ledger = opened()
    ledger.create_budget("clinic", "2", "1e-3", REPLACED)
    counted = ledger.as_counted("clinic", ApproximateEvent(ADDED, "1/2", "1e-6"))
    stated = profile(counted)
    assert stated.epsilon == 1
    assert float(stated.delta) == pytest.approx((1 + 2.718281828459045**0.5) * 1e-6, rel=1e-6)
    assert float(stated.delta) >= (1 + 2.718281828459045**0.5) * 1e-6


def test_what_promises_for_replaced_units_is_not_paid_from_an_add_or_remove_one_budget(account):
    """No theorem leads that way: the number of units may be published under replace-one."""
    with pytest.raises(MixedNeighboursError, match="--population clinic --person patient --relation replace-one"):
        account.reserve("clinic", "ada", PureEvent(REPLACED, "0.1"))
    with pytest.raises(MixedNeighboursError, match="--unit label=cost --relation replace-one"):
        account.quote("clinic", "ada", PureEvent(LABEL, "0.1"))
    assert account.left("clinic", "ada") == 6


def test_an_account_of_poisson_samples_is_not_doubled(opened):
    ledger = opened()
    ledger.create_budget("clinic", "2", "1e-5", REPLACED)
    ledger.grant("clinic", "ada", "2", "1e-5")
    with pytest.raises(Exception, match="Poisson"):
        ledger.reserve("clinic", "ada", SampledGaussianEvent(ADDED, "0.01", "1", 10))
    assert ledger.statement("clinic").grants[0].questions == 0


def test_promises_of_one_population_stand_side_by_side(account):
    account.create_budget("clinic-label", "2", "0", LABEL, population="clinic")
    account.grant("clinic-label", "ada", "2")
    spend(account, "clinic", PureEvent(LABEL, "0.5"))
    assert account.left("clinic-label", "ada") == Fraction(3, 2)
    assert account.left("clinic", "ada") == 6
    stated = account.account("clinic-label")
    assert stated.population == "clinic"
    assert [one.epsilon for one in stated.totals()] == [6, 2]
    words = " ".join(stated.sentences())
    assert "2 promises side by side, not one number" in words
    assert "epsilon 8" not in words


def test_a_second_budget_under_the_same_promise_is_refused_and_leaves_nothing(account):
    for other in (ADDED, Neighbours(Unit.person("pid"))):
        with pytest.raises(LedgerUseError, match="has a budget under this promise already, 'clinic'"):
            account.create_budget("more", "6", 0, other, population="clinic")
    assert account.population("more") == "more"
    account.register("more", "clinic")
    with pytest.raises(LedgerUseError, match="has a budget under this promise already"):
        account.create_budget("more", "6", 0, ADDED)


def test_labels_of_two_columns_are_two_units(account):
    """A column tells people apart by name; a label is a cell of its column."""
    other = Neighbours(Unit.of("stay", "label"), Relation.REPLACE_ONE)
    account.create_budget("costs", "2", "0", LABEL, population="clinic")
    account.create_budget("stays", "1", "0", other, population="clinic")
    account.register("visits", "clinic", "cost")
    assert account.paying("clinic", other).table == "stays"
    assert [one.epsilon for one in account.account("clinic").totals()] == [6, 2, 1]
    assert account.paying("visits", LABEL).table == "costs"


def test_budgets_that_turn_out_to_be_about_the_same_people_are_added_up(account):
    account.create_budget("patients", "4", "1e-6", Neighbours(Unit.person("id")))
    account.register("patients", "clinic")
    stated = account.account("clinic")
    assert [one.epsilon for one in stated.totals()] == [10]
    assert "Its budgets add up to epsilon 10" in " ".join(stated.sentences())


def test_deltas_that_add_up_to_nothing_are_told_as_they_are(opened):
    ledger = opened()
    for name in ("one", "other"):
        ledger.create_budget(name, "1", "0.6", ADDED)
    ledger.register("other", "one")
    assert [one.delta for one in ledger.account("one").totals()] == [Fraction(6, 5)]
    assert "delta 1.2" in " ".join(ledger.account("one").sentences())


def test_a_grant_is_given_back_as_it_was_written(account):
    account.create_budget("labels", "2", "0", LABEL, population="clinic")
    given = account.grant("labels", "bob", "1/2")
    assert (given.table, given.analyst, given.epsilon) == ("labels", "bob", Fraction(1, 2))


def test_releases_without_a_guarantee_are_told_of_the_whole_population(account):
    account.register("visits", "clinic")
    account.record_unbounded("visits", "an anonymised table")
    words = " ".join(account.account("clinic").sentences())
    assert "The population clinic had 1 release without a guarantee" in words
    assert "visits" in words


@pytest.mark.parametrize(
    ("table", "population", "said"),
    [
        ("visits", "elsewhere", "belongs to the population 'clinic' already"),
        ("clinic", "clinic", "in the population of its own name anyway"),
        ("labs", "visits", "is itself part of the population 'clinic'"),
        ("clinic", "world", "is a population with tables of its own"),
    ],
)
def test_registrations_that_make_no_sense(account, table, population, said):
    account.register("visits", "clinic")
    before = account.head()
    with pytest.raises(LedgerUseError, match=said):
        account.register(table, population)
    assert account.head() == before


def test_a_repeated_question_about_a_registered_table_is_free(account):
    account.register("visits", "clinic")
    spend(account, "visits", PureEvent(ADDED, "1"), "how many")
    assert isinstance(spend(account, "visits", PureEvent(ADDED, "1"), "how many"), Replay)
    assert account.left("visits", "ada") == 5


def test_grants_on_a_registered_table_come_out_of_its_population(account):
    account.register("visits", "clinic")
    account.close_grant("clinic", "ada")
    granted = account.grant("visits", "bob", "1")
    assert granted.table == "clinic"
    assert account.left("clinic", "bob") == 1


def test_a_smuggled_second_budget_is_found(tmp_path):
    """`verify` replays the rule of one budget for each promise."""
    from ziggurat.ledger import _rules

    file = tmp_path / "ledger.db"
    rule = _rules._RULES[_rules.Budget]
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", 1, 0, ADDED)
        ledger.register("more", "clinic")
        _rules._RULES[_rules.Budget] = lambda *_: None
        try:
            ledger.create_budget("more", 1, 0, ADDED)
        finally:
            _rules._RULES[_rules.Budget] = rule
    assert not verify_ledger(file).ok


def test_a_doubled_event_promises_what_the_theorem_says():
    """2 mu of Gaussian noise against the direct route: sensitivity 2 at the same sigma."""
    from ziggurat.privacy import as_replace_one

    direct = compose(GaussianEvent(REPLACED, 2, 10)).approximate("1e-6").epsilon
    assert compose(as_replace_one(GaussianEvent(ADDED, 1, 10))).approximate("1e-6").epsilon == direct
