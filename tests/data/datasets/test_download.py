import socket

import pytest

from ziggurat.data.datasets import _download
from ziggurat.data.datasets._download import fetch
from ziggurat.errors import DataError


def test_a_file_arrives_whole_from_a_server(server):
    body = bytes(range(256)) * 1000
    assert fetch((server.offer("a.bin", body),), progress=False) == body


def test_a_file_arrives_whole_from_a_file_address(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"abc")
    assert fetch(((tmp_path / "a.bin").as_uri(),), progress=False) == b"abc"


def test_the_second_address_is_tried_when_the_first_fails(server):
    urls = (server.url("absent"), server.offer("present", b"abc"))
    assert fetch(urls, progress=False) == b"abc"
    assert server.asked == ["/absent", "/present"]


def test_progress_is_drawn_on_standard_error_only(server, capsys):
    fetch((server.offer("a.bin", b"abc"),), progress=True)
    assert capsys.readouterr().out == ""


def test_a_server_that_refuses_is_named_with_its_answer(server):
    with pytest.raises(DataError, match=r"absent could not be downloaded \(the server answered 404\)"):
        fetch((server.url("absent"),), progress=False)


def test_a_download_cut_short_is_refused(server):
    url = server.offer("short", b"abc")
    server.stated["/short"] = 10
    with pytest.raises(DataError, match="cut short"):
        fetch((url,), progress=False)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/a", "data:,abc", "/etc/hostname", ""])
def test_other_addresses_are_refused(url):
    with pytest.raises(DataError, match="not an https, http or file address"):
        fetch((url,), progress=False)


@pytest.mark.parametrize("elsewhere", ["file:///etc/hostname", "ftp://127.0.0.1/a"])
def test_a_server_may_not_redirect_away_from_the_web(server, elsewhere):
    server.redirects["/trap"] = elsewhere
    with pytest.raises(DataError, match=r"the server answered 302|not a web address"):
        fetch((server.url("trap"),), progress=False)


def test_a_redirect_within_the_web_is_followed(server):
    server.redirects["/old"] = server.offer("new", b"abc")
    assert fetch((server.url("old"),), progress=False) == b"abc"


def test_an_endless_download_is_stopped(server, monkeypatch):
    monkeypatch.setattr(_download, "_LIMIT_BYTES", 1000)
    with pytest.raises(DataError, match="larger than any dataset"):
        fetch((server.offer("big", b"x" * 2000),), progress=False)


def test_a_dead_server_is_a_sentence():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(DataError, match="cannot be reached"):
            fetch((f"http://127.0.0.1:{silent.getsockname()[1]}/a",), progress=False)
