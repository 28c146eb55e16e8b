"""Whoever asks for one thread has one, and the last one to leave gives all of them back."""

import threading

import numpy as np
import pytest
import sklearn.ensemble  # noqa: F401 - so that loops compiled with OpenMP are loaded
from threadpoolctl import threadpool_info, threadpool_limits

from ziggurat.threads import one_thread, one_torch_thread

_KINDS = ("blas", "openmp")


def _threads(kind: str) -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == kind}


@pytest.fixture(autouse=True)
def _three_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(limits=3):
        yield


@pytest.mark.parametrize("kind", _KINDS)
def test_threads_are_held_by_the_first_and_given_back_by_the_last(kind: str) -> None:
    assert _threads(kind) == {3}
    with one_thread():
        with one_thread():
            assert _threads(kind) == {1}
        assert _threads(kind) == {1}
    assert _threads(kind) == {3}


def test_every_thread_holds_its_own_loops_and_all_share_the_algebra() -> None:
    """The main thread leaves while another one still holds, which must not notice."""
    joined, left, seen = threading.Event(), threading.Event(), {}

    def work() -> None:
        with one_thread():
            joined.set()
            assert left.wait(60)
            seen.update({kind: _threads(kind) for kind in _KINDS})

    with one_thread():
        other = threading.Thread(target=work)
        other.start()
        assert joined.wait(60)
    assert (_threads("blas"), _threads("openmp")) == ({1}, {3})
    left.set()
    other.join(60)
    assert seen == {"blas": {1}, "openmp": {1}}
    assert _threads("blas") == {3}


def test_an_error_gives_them_back() -> None:
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert {count for kind in _KINDS for count in _threads(kind)} == {3}


def test_pytorch_is_held_if_asked_and_given_back() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'ziggurat[torch]'")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with one_torch_thread(), one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with one_torch_thread(held=False):
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
