"""One audit for every public name that promises something, all on invented data."""

from ziggurat.attacks.audits._case import AuditCase

__all__ = ["find_case", "list_cases"]

_PARTS = (
    "_mechanisms",
    "_local",
    "_queries",
    "_counting",
    "_linear",
    "_served",
    "_descent",
    "_pate",
    "_synthesize",
    "_sequences",
    "_mobility",
)


def list_cases() -> tuple[AuditCase, ...]:
    """Return all audits, in the order of the packages."""
    from importlib import import_module

    return tuple(case for part in _PARTS for case in import_module(f"{__name__}.{part}").CASES)


def find_case(name: str) -> AuditCase:
    """Return the audit of one public name, such as "mechanisms.Laplace"."""
    from ziggurat.errors import ParameterError

    found = {case.name: case for case in list_cases()}
    if name not in found:
        raise ParameterError(f"There is no audit of {name!r}; there are {', '.join(sorted(found))}.")
    return found[name]
