"""The house style leaves alone what is no style: whether a notebook shows what is drawn."""

import matplotlib as mpl
import pytest

from ziggurat.drawing import styled


@pytest.fixture(autouse=True)
def _settings_kept():
    before = mpl.is_interactive()
    yield
    mpl.interactive(before)


@pytest.mark.parametrize("interactive", [True, False])
def test_pictures_appear_in_the_house_style_where_they_did_before(interactive):
    mpl.interactive(interactive)
    with styled():
        assert mpl.is_interactive() == interactive
    assert mpl.is_interactive() == interactive


def wake_up_and_fail():
    with styled():
        mpl.interactive(True)
        raise ZeroDivisionError


def test_a_notebook_that_wakes_up_in_the_house_style_stays_awake():
    mpl.interactive(False)
    with pytest.raises(ZeroDivisionError):
        wake_up_and_fail()
    assert mpl.is_interactive()


def test_the_readers_own_style_comes_back():
    with mpl.rc_context({"font.size": 31}):
        with styled():
            assert mpl.rcParams["font.size"] == 10
        assert mpl.rcParams["font.size"] == 31
