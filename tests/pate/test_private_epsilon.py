import copy
import json
import math
import operator
import pickle

import numpy as np
import pytest

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.pate import PrivateEpsilon

HIDDEN = PrivateEpsilon(0.7319)
BINARY = [
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.add, operator.sub,
    operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod,
]  # fmt: skip
UNARY = [bool, float, int, complex, hash, abs, round, math.floor, math.ceil, math.trunc, operator.neg, operator.index]


@pytest.mark.parametrize("rule", BINARY, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("other", [1.0, 2, np.float64(1.5), None, HIDDEN])
def test_no_stopping_rule_can_be_made_of_it(rule, other):
    for pair in ((HIDDEN, other), (other, HIDDEN)):
        with pytest.raises(PrivacyError, match="sanitize"):
            rule(*pair)


@pytest.mark.parametrize("rule", [*UNARY, pickle.dumps], ids=lambda rule: rule.__name__)
def test_it_cannot_be_converted_or_stored(rule):
    with pytest.raises(PrivacyError):
        rule(HIDDEN)


def test_no_text_shows_the_number():
    texts = [str(HIDDEN), repr(HIDDEN), f"{HIDDEN}", f"{HIDDEN:.3f}", "%s" % HIDDEN, json.dumps(HIDDEN.to_dict())]  # noqa: UP031
    texts += [json.dumps({"epsilon": HIDDEN}, default=str), str([HIDDEN])]
    assert not any("73" in text for text in texts)
    with pytest.raises(TypeError):
        json.dumps(HIDDEN)
    with pytest.raises(TypeError):
        vars(HIDDEN)


def test_the_steward_sees_it():
    assert HIDDEN.reveal_to_steward() == 0.7319
    assert copy.deepcopy(HIDDEN).reveal_to_steward() == 0.7319


@pytest.mark.parametrize("bad", [math.nan, -0.1, "0.5", None, 1])
def test_only_an_epsilon_can_be_hidden(bad):
    with pytest.raises(ParameterError):
        PrivateEpsilon(bad)
