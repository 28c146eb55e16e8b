"""Browsers: cookies that no script reads, no session that was there before, a second secret on whatever changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BoundedSemaphore

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from ziggurat.errors import ConflictError, LimitError, SignInError
from ziggurat.service import make_app
from ziggurat.service.access import COOKIE, CSRF_HEADER, PeopleBook, _people
from ziggurat.service.store import ServiceStore, browser_sessions, links
from ziggurat.service.web._limits import RateLimit

PASSWORD = "correct horse battery"


@pytest.fixture
def browser(served):
    """A browser without a key, and the service it looks at."""
    served.house.people.set_password(served.house.people.named("chief"), PASSWORD)
    served.client.cookies.clear()
    yield served
    served.client.cookies.clear()


def sign_in(served, name="chief", password=PASSWORD):
    return served.client.post("/v1/sign-in", json={"name": name, "password": password})


def test_the_cookie_is_kept_from_scripts_and_other_sites(browser):
    flags = {each.strip().lower() for each in sign_in(browser).headers["Set-Cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert not any(each.startswith("domain") for each in flags)
    assert "secure" not in flags  # of plain HTTP on this machine alone


def test_behind_tls_the_cookie_goes_over_tls_alone(browser):
    settings = browser.house.settings.model_copy(update={"public_url": "https://ziggurat.example"})
    browser.house.settings = settings
    assert "secure" in sign_in(browser).headers["Set-Cookie"].lower().split("; ")


def test_a_session_that_was_there_before_is_never_the_one_that_is_signed_in(browser):
    """Fixation: whoever plants a cookie knows the session before; signing in makes another one."""
    planted = "A" * 43
    browser.client.cookies.set(COOKIE, planted)
    told = sign_in(browser)
    assert told.cookies[COOKIE] != planted
    first = told.cookies[COOKIE]
    assert sign_in(browser).cookies[COOKIE] != first
    browser.client.cookies.clear()
    assert browser.client.get("/v1/me", cookies={COOKIE: planted}).status_code == 401


def unsafe_routes(served):
    paths = served.client.get("/openapi.json").json()["paths"]
    return [
        (verb, path) for path, verbs in paths.items() for verb, said in verbs.items()
        if verb != "get" and said.get("security")
    ]  # fmt: skip


def test_whatever_changes_something_needs_the_second_secret(browser):
    sign_in(browser)
    other = browser.house.browsers.begin(browser.house.people.named("ana")).csrf
    routes = unsafe_routes(browser)
    assert len(routes) >= 15
    for verb, path in routes:
        for headers in ({}, {CSRF_HEADER: ""}, {CSRF_HEADER: "wrong"}, {CSRF_HEADER: other}):
            told = browser.client.request(verb.upper(), path.replace("{", "").replace("}", ""), headers=headers)
            assert (told.status_code, told.json()["error"]["kind"]) == (403, "AccessError"), (verb, path)
    assert browser.client.get("/v1/me").json()["name"] == "chief"


def test_with_the_second_secret_a_browser_does_what_its_person_may(browser):
    csrf = sign_in(browser).json()["csrf"]
    made = browser.client.post("/v1/people", json={"name": "new", "role": "analyst"}, headers={CSRF_HEADER: csrf})
    assert made.status_code == 201


def test_a_form_of_another_site_signs_nobody_in(browser):
    """A page of another site can send texts and forms, but no JSON: that needs leave, which is never given."""
    body = b'{"name": "chief", "password": "correct horse battery"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
        headers = {} if kind is None else {"Content-Type": kind}
        told = browser.client.post("/v1/sign-in", content=body, headers=headers)
        assert (told.status_code, COOKIE in told.cookies) == (422, False)
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    allowed = browser.client.options("/v1/sign-in", headers=asked)
    assert "access-control-allow-origin" not in allowed.headers
    assert sign_in(browser).status_code == 200


def test_whoever_signs_out_is_out(browser):
    csrf = sign_in(browser).json()["csrf"]
    kept = browser.client.cookies[COOKIE]
    out = browser.client.post("/v1/sign-out", headers={CSRF_HEADER: csrf})
    assert out.status_code == 200
    assert "max-age=0" in out.headers["Set-Cookie"].lower()
    browser.client.cookies.clear()
    assert browser.client.get("/v1/me", cookies={COOKIE: kept}).status_code == 401


def test_a_session_ends_with_its_time_its_person_and_its_password(browser):
    def is_in(cookie):
        browser.client.cookies.clear()
        return browser.client.get("/v1/me", cookies={COOKIE: cookie}).status_code == 200

    browser.add("second", "steward", chief=True)
    old, kept = sign_in(browser).cookies[COOKIE], sign_in(browser).cookies[COOKIE]
    assert is_in(old)
    with browser.house.store.write() as connection:
        connection.execute(update(browser_sessions).values(expires="2020-01-01T00:00:00.000000Z"))
    assert not is_in(old)
    assert not is_in(kept)
    fresh = sign_in(browser).cookies[COOKIE]
    browser("second", "PATCH", "/v1/people/chief", {"password": "another long password"})
    assert not is_in(fresh)
    fresh = sign_in(browser, password="another long password").cookies[COOKIE]
    browser("second", "PATCH", "/v1/people/chief", {"active": False})
    assert not is_in(fresh)
    assert sign_in(browser, password="another long password").status_code == 401


def test_the_cookie_does_not_stand_in_for_a_key_that_is_wrong(browser):
    sign_in(browser)
    for header in ("Bearer wrong", "Basic x"):
        assert browser.client.get("/v1/me", headers={"Authorization": header}).status_code == 401


def test_a_link_lets_one_in_once(served):
    secret = served("chief", "POST", "/v1/people/ana/link").json()["secret"]
    first = served.client.post("/v1/sign-in/link", json={"secret": secret})
    second = served.client.post("/v1/sign-in/link", json={"secret": secret})
    assert (first.status_code, first.json()["person"]["name"]) == (200, "ana")
    assert (second.status_code, second.json()["error"]["kind"]) == (401, "SignInError")


def test_of_many_who_use_a_link_at_once_one_is_let_in(served):
    person = served.house.people.named("ana")

    def use(secret):
        try:
            return served.house.links.use(secret).name
        except SignInError:
            return None

    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            secret = served.house.links.make(person)
            assert sorted(map(str, pool.map(use, [secret] * 8))) == ["None"] * 7 + ["ana"]


def test_links_that_ended_or_lead_to_somebody_kept_out_let_nobody_in(served):
    ana = served.house.people.named("ana")
    ended, kept_out = served.house.links.make(ana, hours=-1), served.house.links.make(ana)
    served.house.people.set_active(ana, False)
    told = [
        served.client.post("/v1/sign-in/link", json={"secret": each})
        for each in (ended, kept_out, "wrong", "", "\u00e4")
    ]
    assert {each.status_code for each in told} == {401}
    assert len({each.text for each in told}) == 1
    with served.house.store.read() as connection:
        assert kept_out not in str(connection.execute(links.select()).all())


def test_names_that_are_unknown_take_the_same_path_as_wrong_passwords(browser, monkeypatch):
    """As much work is done whether or not the name is known: one argon2 of the same cost, which does not fail early."""
    from argon2 import PasswordHasher, extract_parameters
    from argon2.exceptions import VerifyMismatchError

    done = []

    def watch(self, hashed, password):
        try:
            return usual(self, hashed, password)
        except Exception as error:
            done.append((str(extract_parameters(hashed)), type(error)))
            raise

    usual = PasswordHasher.verify
    monkeypatch.setattr(PasswordHasher, "verify", watch)
    told = [sign_in(browser, name, "wrong") for name in ("chief", "ana", "nobody", "' OR 1=1", "")]
    assert {(each.status_code, each.text) for each in told} == {(401, told[0].text)}
    assert len(done) == 5
    assert len(set(done)) == 1
    assert done[0][1] is VerifyMismatchError


def test_guessing_passwords_of_a_name_is_slowed_down(browser):
    told = [sign_in(browser, "nobody", "wrong").status_code for _ in range(25)]
    assert told[:20] == [401] * 20
    assert 429 in told[20:]
    assert sign_in(browser).status_code == 200  # others are not kept waiting


def test_few_passwords_are_hashed_at_a_time(browser, monkeypatch):
    from ziggurat.service.access import _people

    monkeypatch.setattr(_people, "_PATIENCE", 0.01)
    for _ in range(_people._AT_ONCE):
        assert _people._effort.acquire(blocking=False)
    try:
        with pytest.raises(LimitError):
            PeopleBook(browser.house.store).sign_in("chief", PASSWORD)
        refused = sign_in(browser)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    finally:
        for _ in range(_people._AT_ONCE):
            _people._effort.release()
    assert sign_in(browser).status_code == 200


def test_two_applications_of_one_database_know_the_same_browsers(browser):
    """Workers share sessions: what is signed in at one is signed in, and out, at the other."""
    told = sign_in(browser)
    with TestClient(make_app(house=browser.house)) as other:
        cookies = {COOKIE: told.cookies[COOKIE]}
        assert other.get("/v1/me", cookies=cookies).status_code == 200
        browser.client.post("/v1/sign-out", headers={CSRF_HEADER: told.json()["csrf"]})
        assert other.get("/v1/me", cookies=cookies).status_code == 401


def test_whoever_signs_in_by_the_hundred_takes_the_threads_of_nobody(browser, monkeypatch):
    """Nobody has signed in yet who asks for this: a few hash, a few wait, and the others are sent away at once."""
    busy = BoundedSemaphore(1)
    busy.acquire()
    monkeypatch.setattr(_people, "_effort", busy)
    monkeypatch.setattr(_people, "_PATIENCE", 0.0)
    line = BoundedSemaphore(2)
    monkeypatch.setattr(_people, "_line", line)
    assert sign_in(browser).status_code == 429
    assert line.acquire(blocking=False)  # whoever was sent away has left the line
    assert line.acquire(blocking=False)
    monkeypatch.setattr(_people, "_PATIENCE", 3600.0)
    assert sign_in(browser).status_code == 429  # the line is full: nobody waits an hour
    busy.release()
    assert sign_in(browser).status_code == 429  # the control: it is the line that refuses
    line.release()
    assert sign_in(browser).status_code == 200


@pytest.mark.parametrize("path", ["/v1/sign-in", "/v1/sign-in/link"])
def test_an_address_that_tries_too_often_is_sent_away_before_anything_is_looked_up(browser, path):
    browser.client.app.state.rate = RateLimit(2)
    body = {"name": "nobody", "password": "x"} if path == "/v1/sign-in" else {"secret": "x"}
    told = [browser.client.post(path, json=body).status_code for _ in range(3)]
    assert told == [401, 401, 429]


def keep_each_other_out(people):
    """Two chief stewards keep each other out at the same moment; gives whom it was done to."""
    chiefs = [people.add(name, "steward", chief=True) for name in ("first", "second")]
    together = Barrier(2)

    def keep_out(chief):
        together.wait()
        try:
            people.set_active(chief, False)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(keep_out, chiefs))
    left = [each for each in people.all() if each.chief and each.active]
    return sorted(done), len(left)


def test_two_chief_stewards_do_not_keep_each_other_out(tmp_path):
    store = ServiceStore(f"sqlite:///{tmp_path}/service.db")
    store.migrate()
    assert keep_each_other_out(PeopleBook(store)) == ([False, True], 1)
    store.close()


@pytest.mark.postgres
def test_two_chief_stewards_do_not_keep_each_other_out_of_postgresql(database):
    store = ServiceStore(database.replace("postgresql://", "postgresql+psycopg://", 1))
    store.migrate()
    assert keep_each_other_out(PeopleBook(store)) == ([False, True], 1)
    store.close()
