"""`ziggurat collect answer LINK`: answer a survey of a service; the report is drawn here, and nothing else leaves.

It needs no key and no part of the service: the link of the invitation, and the description that everybody may read. The
law is made from the epsilons that are shown, so that a service which describes another law is not followed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import typer

from ziggurat.cli._outputs import print_json
from ziggurat.errors import DataError, ParameterError, ServiceError, UnavailableError
from ziggurat.local import WholeRecord

ANSWER = "answer"
"""What stands in the place of a file when somebody answers a survey."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LONGEST = 1 << 22
_PATIENCE = 30
_TRIES = 3
_FORMAT = "ziggurat/survey/1"


def answer_survey(link: str, values: list[str], as_json: bool) -> None:
    """Ask for the answers, or take them from the command line, draw the report and send it.

    Parameters
    ----------
    link
        Of the invitation: https://…/survey/NAME#INVITATION.
    values
        column=answer, for each column; what is left out is asked for.
    as_json
        Print one JSON document and nothing else.
    """
    base, name, invitation = _split(link)
    place = f"{base}/v1/surveys/{quote(name)}"
    told = _ask(place)
    record = _read(told)
    if told.get("state") != "open":
        raise ServiceError("The survey is closed; nothing was sent.")
    if not as_json:
        _describe(told, record)
    given = _gather(values, record, told, as_json)
    report = _draw(record, given)
    if not as_json:
        typer.echo(f"What leaves this computer: {json.dumps(report, ensure_ascii=False)}")
    _send(f"{place}/reports", {"invitation": invitation, "report": report})
    if as_json:
        print_json({"survey": name, "report": report, "taken": True, "promise": str(record.guarantee())})
    else:
        typer.echo("The report was taken. Your answers never left this computer.")


def _split(link: str) -> tuple[str, str, str]:
    parts = urlsplit(link)
    front, _, name = parts.path.rpartition("/survey/")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ParameterError("The link of an invitation begins with https://; ask for another one.")
    if not (name and parts.fragment and parts.hostname) or "/" in name:
        raise ParameterError("Give the whole link of the invitation: https://…/survey/NAME#INVITATION, in quotes.")
    return f"{parts.scheme}://{parts.netloc}{front}", name, parts.fragment


def _read(told: Mapping[str, Any]) -> WholeRecord:
    """How reports are made, by what the description promises; one that adds up to more than it says is refused."""
    if told.get("format") != _FORMAT:
        raise DataError("The service describes the survey in a way that this version does not know.")
    record = WholeRecord.from_dict(told)
    if record.epsilon > _amount(told.get("epsilon")):
        raise DataError("The survey costs more than its description says; nothing is sent.")
    return record


def _amount(said: object) -> Fraction:
    try:
        return Fraction(str(said))
    except (ValueError, ZeroDivisionError):
        raise DataError("The description of the survey cannot be read.") from None


def _describe(told: Mapping[str, Any], record: WholeRecord) -> None:
    from ziggurat.wording import printable

    typer.echo(f"Survey {printable(str(told.get('name')))}, about {printable(str(told.get('population')))}.")
    typer.echo(f"{record.guarantee().sentence()} Only a report that is protected here is sent, once.")


def _gather(values: list[str], record: WholeRecord, told: Mapping[str, Any], as_json: bool) -> dict[str, Any]:
    given: dict[str, str] = {}
    for each in values:
        name, equals, value = each.partition("=")
        if not equals or name not in record.parts:
            raise ParameterError(f"Say --value column=answer, for {', '.join(record.parts)}.")
        given[name] = value
    left = [name for name in record.parts if name not in given]
    if left and as_json:
        raise ParameterError(f"Say --value column=answer for {', '.join(left)} too.")
    for name in left:
        given[name] = _prompt(name, told)
    return {name: _as_asked(name, _unsay(given[name], told, name), record) for name in record.parts}


def _prompt(name: str, told: Mapping[str, Any]) -> str:
    from ziggurat.wording import printable

    said, part = told.get("questions", {}).get(name) or name, told["columns"][name]
    listed = _list_words(told, name) or part.get("categories")
    among = ", ".join(map(str, listed)) if isinstance(listed, list) else f"{part.get('lower')} to {part.get('upper')}"
    return str(typer.prompt(f"{printable(str(said))} ({printable(among)})", hide_input=False, default=""))


def _list_words(told: Mapping[str, Any], name: str) -> list[str]:
    """What people are shown for the answers to a question, such as no and yes; nothing if the answers themselves."""
    words = (told.get("words") or {}).get(name)
    return [str(each) for each in words] if isinstance(words, list) else []


def _unsay(text: str, told: Mapping[str, Any], name: str) -> str:
    """The answer that somebody means by a word that they were shown."""
    words, listed = _list_words(told, name), told["columns"][name].get("categories")
    if text not in words or not isinstance(listed, list) or len(listed) != len(words):
        return text
    return str(listed[words.index(text)])


def _as_asked(name: str, text: str, record: WholeRecord) -> Any:
    """An answer in the kind that its column has; nothing means that it is missing."""
    import pyarrow.types as kinds

    if not text:
        return None
    listed = getattr(record.parts[name], "list", None)
    whole = kinds.is_integer(listed.type) if listed is not None else None
    try:
        if whole or (whole is None and kinds.is_integer(record.parts[name].arrow_type)):
            return int(text)
        return float(text) if whole is None else text
    except ValueError:
        raise DataError(f"The answer to {name!r} must be a number.") from None


def _draw(record: WholeRecord, given: Mapping[str, Any]) -> dict[str, Any]:
    import pyarrow as pa

    frame = pa.table({name: [value] for name, value in given.items()})
    (report,) = record.privatize(frame).value.to_pylist()
    return {name: str(value) if _is_long(value) else value for name, value in report.items()}


def _is_long(value: object) -> bool:
    """Whether a whole number is longer than all readers of JSON take."""
    return isinstance(value, int) and abs(value) >= 1 << 53


class _NoRedirects(HTTPRedirectHandler):
    """What is sent goes where the link says, and nowhere else."""

    def redirect_request(self, *_given: Any) -> None:
        """Follow none."""
        return


def _send(place: str, body: Mapping[str, Any]) -> None:
    """Send a report; after a lost connection the same one again, never another."""
    for left in reversed(range(_TRIES)):
        try:
            _ask(place, body)
        except UnavailableError:
            if not left:
                raise
        else:
            return


def _ask(place: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the service; its errors come as ours, with its status."""
    sent = None if body is None else json.dumps(body).encode()
    request = Request(place, sent, {"Content-Type": "application/json", "Accept": "application/json"})  # noqa: S310
    status, text = 0, b""
    try:
        with build_opener(_NoRedirects).open(request, timeout=_PATIENCE) as answer:
            status, text = answer.status, answer.read(_LONGEST)
    except HTTPError as error:
        status, text = error.code, error.read(_LONGEST)
    except (URLError, OSError, ValueError):
        status = 503
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = {}
    told = told if isinstance(told, dict) else {}
    if status >= 500:
        raise UnavailableError("The service cannot be reached or answers strangely; try again later.")
    if status >= 300:
        raise _refusal(told, status)
    return told


def _refusal(told: Mapping[str, Any], status: int) -> ServiceError:
    from ziggurat.wording import printable

    said = told.get("error")
    words = said.get("message") if isinstance(said, dict) else None
    error = ServiceError(printable(str(words or "The service refused without saying why.")[:500]))
    error.status = status
    return error
