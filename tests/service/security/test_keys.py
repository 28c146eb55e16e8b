"""Keys that are wrong in every way are refused in the same words; what a key is for, it cannot widen."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from ziggurat.errors import ParameterError
from ziggurat.service.store import keys


def refuse(served, given, **more):
    headers = [(b"authorization", given if isinstance(given, bytes) else f"Bearer {given}".encode())]
    return served.client.get("/v1/me", headers=headers, **more)


def change(served, identity, **values):
    with served.house.store.write() as connection:
        connection.execute(update(keys).where(keys.c.id == identity).values(**values))


def wrong_keys(served):
    """Ways in which a key can be wrong, beside one that is right."""
    ana, ben = (served.house.people.named(name) for name in ("ana", "ben"))
    right = served.keys["ana"]
    _, identity, secret = right.split("_", 2)
    ended, ended_secret = served.house.keys.make(ana, "ended")
    change(served, ended.id, expires="2020-01-01T00:00:00.000000Z")
    revoked, revoked_secret = served.house.keys.make(ana, "revoked")
    served.house.keys.revoke(ana, revoked.id)
    _, other_identity, other_secret = served.house.keys.make(ben, "another's")[1].split("_", 2)
    kept_out = served.house.people.add("cleo", "analyst")
    _, of_kept_out = served.house.keys.make(kept_out, "of somebody who may not come in")
    served.house.people.set_active(kept_out, False)
    with served.house.store.read() as connection:
        digest = connection.execute(keys.select().where(keys.c.id == identity)).one().digest
    return {
        "its last letter changed": right[:-1] + ("A" if right[-1] != "A" else "B"),
        "a letter more": right + "A",
        "a letter less": right[:-1],
        "ended": ended_secret,
        "revoked": revoked_secret,
        "another's secret": f"zig_{identity}_{other_secret}",
        "another's name": f"zig_{other_identity}_{secret}",
        "of somebody who is kept out": of_kept_out,
        "without its mark": f"{identity}_{secret}",
        "the name alone": f"zig_{identity}_",
        "the hash that is kept": f"zig_{identity}_{digest}",
        "no name": f"zig__{secret}",
        "SQL": "zig_' OR '1'='1_x",
        "long": "zig_" + "a" * 6000,
        "of another script": "zig_\u00e4_\u00f6".encode().decode("latin-1"),
        "of control characters": "zig_\x01\x02",
    }


def test_keys_that_are_wrong_are_refused_in_the_same_words(served):
    found = {why: refuse(served, f"Bearer {key}".encode("latin-1")) for why, key in wrong_keys(served).items()}
    assert {why: told.status_code for why, told in found.items()} == dict.fromkeys(found, 401)
    assert len({told.text for told in found.values()}) == 1
    assert refuse(served, served.keys["ana"]).status_code == 200  # the control: the right one is let in


@pytest.mark.parametrize("header", [b"Bearer", b"Bearer ", b"", b"Basic YTpi", b"bearer\xff", b"Digest x", b"zig_a_b"])
def test_headers_that_are_no_key_are_refused_in_our_shape(served, header):
    told = refuse(served, header)
    assert (told.status_code, told.json()["error"]["kind"]) == (401, "SignInError")


def test_what_is_kept_of_a_key_lets_nobody_in(served):
    with served.house.store.read() as connection:
        kept = str(connection.execute(keys.select()).all())
    assert served.keys["ana"].split("_", 2)[2] not in kept


def test_a_key_that_is_revoked_is_refused_from_the_next_request_on(served):
    made = served("ana", "POST", "/v1/people/ana/keys", {"label": "laptop"}).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert served.client.get("/v1/me", headers=headers).status_code == 200
    assert served("ana", "DELETE", f"/v1/people/ana/keys/{made['id']}").status_code == 200
    assert served.client.get("/v1/me", headers=headers).status_code == 401


def test_somebody_who_is_kept_out_is_refused_from_the_next_request_on(served):
    assert served("ana", "GET", "/v1/me").status_code == 200
    assert served("chief", "PATCH", "/v1/people/ana", {"active": False}).status_code == 200
    assert served("ana", "GET", "/v1/me").status_code == 401
    assert served("chief", "PATCH", "/v1/people/ana", {"active": True}).status_code == 200
    assert served("ana", "GET", "/v1/me").status_code == 200


def test_the_last_chief_steward_cannot_be_kept_out(served):
    refused = served("chief", "PATCH", "/v1/people/chief", {"active": False})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "ConflictError")
    served.add("second", "steward", chief=True)
    assert served("chief", "PATCH", "/v1/people/chief", {"active": False}).status_code == 200


def narrow(served, who, *scopes, days=365):
    served.keys["narrow"] = served.house.keys.make(served.house.people.named(who), "narrow", scopes, days)[1]


def test_a_key_makes_none_that_is_for_more_or_for_longer(served):
    narrow(served, "ana", "read", days=1)
    refused = served("narrow", "POST", "/v1/people/ana/keys", {"label": "more", "scopes": ["read", "spend"]})
    assert refused.status_code == 403
    made = served("narrow", "POST", "/v1/people/ana/keys", {"label": "longer", "scopes": ["read"], "days": None})
    own = next(each for each in served("ana", "GET", "/v1/people/ana/keys").json()["keys"] if each["label"] == "narrow")
    assert made.json()["expires"] == own["expires"]


def test_a_key_for_a_part_changes_no_password_which_would_let_it_do_everything(served):
    narrow(served, "ana", "read", "spend")
    refused = served("narrow", "PATCH", "/v1/people/ana", {"password": "a long password"})
    assert refused.status_code == 403
    assert served.client.post("/v1/sign-in", json={"name": "ana", "password": "a long password"}).status_code == 401
    assert served("ana", "PATCH", "/v1/people/ana", {"password": "a long password"}).status_code == 200


def test_a_key_for_a_part_ends_none_that_is_for_more(served):
    narrow(served, "ana", "read")
    whole = next(
        each for each in served("ana", "GET", "/v1/people/ana/keys").json()["keys"] if each["label"] == "tests"
    )
    assert served("narrow", "DELETE", f"/v1/people/ana/keys/{whole['id']}").status_code == 403
    assert served("ana", "GET", "/v1/me").status_code == 200


def test_nobody_but_a_chief_touches_the_keys_of_others(served):
    bens = served("ben", "GET", "/v1/people/ben/keys").json()["keys"][0]["id"]
    for verb, path, body in (
        ("GET", "/v1/people/ben/keys", None),
        ("POST", "/v1/people/ben/keys", {"label": "mine"}),
        ("DELETE", f"/v1/people/ben/keys/{bens}", None),
        ("PATCH", "/v1/people/ben", {"password": "a long password"}),
        ("POST", "/v1/people/ben/link", None),
    ):
        assert served("ana", verb, path, body).status_code == 403
        unknown = served("ana", verb, path.replace("/ben", "/nobody"), body)
        assert unknown.status_code == 403  # and so nobody learns who is known here
    assert served("ana", "DELETE", f"/v1/people/ana/keys/{bens}").status_code == 404
    assert served("ben", "GET", "/v1/me").status_code == 200


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "Manage"]])
def test_scopes_that_are_none_are_refused(served, scopes):
    refused = served("chief", "POST", "/v1/people/chief/keys", {"label": "x", "scopes": scopes})
    assert refused.status_code == 422
    with pytest.raises(ParameterError):
        served.house.keys.make(served.house.people.named("chief"), "x", scopes)


def test_a_key_for_a_part_lets_nobody_in_for_everything(served):
    """A link or a password signs a browser in, which is for all; so does a person who may do everything."""
    chief = served.house.people.named("chief")
    narrow = {"Authorization": f"Bearer {served.house.keys.make(chief, 'narrow', ['manage'])[1]}"}
    ways = (
        ("/v1/people/chief/link", None),
        ("/v1/people", {"name": "mine", "role": "steward", "chief": True}),
        ("/v1/people", {"name": "mine", "role": "analyst", "password": "correct horse battery"}),
    )
    for path, body in ways:
        assert served.client.post(path, json=body, headers=narrow).status_code == 403
        assert served("chief", "POST", path, body).status_code in (201, 409)  # the control
    assert served.client.post("/v1/people", json={"name": "ada", "role": "analyst"}, headers=narrow).status_code == 201
