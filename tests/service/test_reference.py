"""The reference of the service is whole: every setting with its default, every route with who may call it."""

import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from ziggurat.service import ServiceSettings, make_app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/service.md").read_text()
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROUTES = {
    (method, path): (who, answers)
    for method, path, who, answers in re.findall(
        r"^\| `([A-Z]+) ([^`]+)` \| ([^|]+) \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE
    )
}
SETTINGS = dict(re.findall(r"^\| `([a-z_]+)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE))


def described(app):
    """The routes of an application, with their descriptions; read when the test runs, so that none is forgotten."""
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            yield (method.upper(), path), operation


def find_gaps(app):
    """Routes that the page does not name, and names of the page that are no routes."""
    real = {route for route, _ in described(app)}
    return sorted(real - set(ROUTES)), sorted(set(ROUTES) - real)


def test_every_route_is_documented_and_nothing_else_is():
    assert find_gaps(make_app(ServiceSettings())) == ([], [])


def test_a_route_that_is_not_documented_is_noticed():
    app = make_app(ServiceSettings())
    app.openapi_schema = None

    @app.get("/v1/forgotten")
    def forgotten() -> dict[str, str]:
        return {}

    assert find_gaps(app)[0] == [("GET", "/v1/forgotten")]


def test_every_route_says_the_status_that_it_has_when_it_goes_well():
    for route, operation in described(make_app(ServiceSettings())):
        well = [status for status in operation["responses"] if status[0] in "23"]
        assert ROUTES[route][1].startswith(well[0]), route
        assert set(re.findall(r"\d{3}", ROUTES[route][1])) <= set(operation["responses"]), route


@pytest.mark.parametrize("route", list(ROUTES), ids=" ".join)
def test_a_route_asks_who_calls_unless_everybody_may(served, route):
    method, path = route
    who = ROUTES[route][0]
    answered = served.client.request(method, re.sub(r"{\w+}", "x", path), follow_redirects=False)
    open_to_all = who.startswith("everybody") and not who.startswith("everybody signed in")
    assert (answered.status_code != 401) == open_to_all, (route, answered.status_code)


def test_every_setting_is_documented_with_its_default_and_no_other_is():
    fields = ServiceSettings.model_fields
    assert set(SETTINGS) == set(fields)
    for name, field in fields.items():
        value = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        if value not in ("", None):
            assert SETTINGS[name] == f"`{value}`", name
