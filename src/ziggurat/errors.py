"""Every exception Ziggurat raises, and the exit code of each; this module imports nothing of ours.

An error is one sentence that says what to change. No message ever contains a raw value of the data:
column names, bounds and categories that the steward declared are fine, cells are not.
"""

from typing import Any


class ZigguratError(Exception):
    """The root of every error raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 2

    def to_dict(self) -> dict[str, Any]:
        """The error as the command line prints it under `--json`."""
        return {"error": {"kind": type(self).__name__, "message": str(self), "exit_code": self.exit_code}}


class UnitWarning(UserWarning):
    """A table seems to hold several rows of a person, and nobody said whose a row is; no cell is shown."""


class ParameterError(ZigguratError, ValueError):
    """A parameter (epsilon, delta, a scale, a count) is outside what it may be."""


class SchemaError(ZigguratError):
    """A schema is malformed, contradicts itself or does not fit its table."""

    exit_code = 6


class DataError(ZigguratError):
    """A table, file or value cannot be used as asked."""

    exit_code = 6


class EngineError(ZigguratError):
    """A database engine failed; its own message is withheld, because it may quote cells."""

    exit_code = 7


class MissingExtraError(ZigguratError, ImportError):
    """An optional dependency is absent; the message names the command that adds it."""


class NotPublicError(ZigguratError):
    """A bound or category list was learned from the data and nobody has paid for it."""


class PrivacyError(ZigguratError):
    """A guarantee cannot be given as asked."""


class MixedNeighboursError(PrivacyError):
    """Two promises about different units or neighbour relations were combined."""


class UnknownEventError(PrivacyError):
    """An event is of a kind no accountant here can interpret."""


class GateError(PrivacyError):
    """A gate stopped a release by what attacks found; the message says which, and what to do.

    `held` is the release, which has not left, and `place` the folder in which it is kept, if it is.
    """

    exit_code = 5
    held: object = None
    place: str = ""


class ReleaseStoppedError(ZigguratError):
    """A release was stopped between two steps, as its caller asked; the message says what stays spent."""

    exit_code = 130


class QuestionError(ZigguratError):
    """A question cannot be answered with a promise; the message says why and what to ask instead."""


class LedgerError(ZigguratError):
    """The ledger cannot be opened, read or written."""

    exit_code = 4


class LedgerUseError(LedgerError):
    """The ledger is well, but it cannot do what was asked: an unknown name, a second budget, a missing key."""

    exit_code = 2


class LedgerCorruptError(LedgerError):
    """The ledger does not verify; the message says at which entry."""


class WitnessError(LedgerError):
    """The witness of a ledger cannot be reached or used; without it nothing is spent."""


class BudgetExceededError(LedgerError):
    """The question costs more than is left; nothing was read and nothing was spent."""

    exit_code = 3


class PendingError(LedgerError):
    """The same question is being answered right now under another reservation."""

    exit_code = 3


class ExperimentError(ZigguratError):
    """An experiment file is malformed, or a run cannot be made of it."""


class ArtefactError(ZigguratError):
    """An output of a step cannot be stored, or a stored one is damaged."""

    exit_code = 6


class ServiceError(ZigguratError):
    """A service refused or failed; `status` is what HTTP calls it."""

    status = 500


class SignInError(ServiceError):
    """Nobody is signed in, or with a key or password that is wrong, ended or revoked."""

    exit_code = 8
    status = 401


class AccessError(ServiceError):
    """Whoever asks may not do this; the message says who may."""

    exit_code = 8
    status = 403


class UnknownNameError(ServiceError):
    """There is nothing of that name, or nothing that whoever asks may see."""

    status = 404


class ConflictError(ServiceError):
    """What is asked contradicts what is there: a name that is taken, a job that has ended, a key used otherwise."""

    status = 409


class TooLargeError(ServiceError):
    """A request is longer than the service takes."""

    status = 413


class LimitError(ServiceError):
    """Too much is asked at once; the message says when to come back."""

    status = 429


class UnavailableError(ServiceError):
    """The service cannot answer now, and nothing was lost; try again later."""

    exit_code = 7
    status = 503
