"""Plans of masking in YAML: for each column a technique with its parameters; secrets stay outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, ParameterError, ZigguratError

if TYPE_CHECKING:
    from ziggurat.anonymize import Technique
    from ziggurat.anonymize.masking._suppression import SuppressionRule

_SECRET = "Say where the secret is: secret: {file: key.txt}, or secret: {variable: NAME_OF_AN_ENVIRONMENT_VARIABLE}."  # noqa: S105

MaskPlan = dict[str | tuple[str, ...], list["Technique"]]
"""Techniques, in order, by the column or the group of columns that they mask."""


def mask_plan_in(file: str | Path, columns: Sequence[str]) -> MaskPlan:
    """Read a plan from a YAML file; secrets and vaults are named from its folder."""
    from ziggurat.located_yaml import loaded

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise DataError(f"The plan {str(file)!r} does not exist or cannot be read.") from None
    data, locate = loaded(text, str(file), DataError)
    if not isinstance(data, Mapping) or not data:
        raise DataError(f"{file}: a plan names columns and their techniques, such as 'name: drop'.")
    return mask_plan(data, columns, Path(file).parent, locate)


def mask_plan(
    data: Mapping[Any, Any],
    columns: Sequence[str],
    folder: Path,
    locate: Callable[[tuple[str, ...]], str] = lambda path: "",  # noqa: ARG005
) -> MaskPlan:
    """Read a plan: techniques by column, or by several columns with commas where one should see them together."""
    plan: MaskPlan = {}
    for name, given in data.items():
        steps = given if isinstance(given, list) else [given]
        try:
            plan[_columns(str(name), columns)] = [technique_of(step, folder) for step in steps]
        except ZigguratError as error:
            raise type(error)(f"{locate((str(name),))}{error}") from None
    return plan


def technique_of(given: Any, folder: Path) -> Technique:
    """Make a technique from its name, or from a mapping of `technique` and its parameters."""
    from ziggurat.wording import nearest

    facts = {"technique": given} if isinstance(given, str) else given
    if not isinstance(facts, Mapping) or not isinstance(facts.get("technique"), str):
        raise ParameterError("A technique is a name, or a mapping such as {technique: round, base: 100}.")
    makers = _makers(folder)
    name = facts["technique"]
    if name not in makers:
        raise ParameterError(f"There is no technique {name!r}; {nearest(name, makers)}")
    options = {str(key).replace("-", "_"): value for key, value in facts.items() if key != "technique"}
    try:
        return makers[name](**options)
    except TypeError:
        raise ParameterError(f"The technique {name!r} does not take these parameters, or lacks one.") from None


def _columns(name: str, known: Sequence[str]) -> str | tuple[str, ...]:
    several = tuple(part.strip() for part in name.split(","))
    return name if name in known or len(several) == 1 else several


def _makers(folder: Path) -> dict[str, Callable[..., Technique]]:
    from ziggurat import anonymize as made

    plain = (
        made.Drop, made.Redact, made.PlainHash, made.TopCode, made.BottomCode, made.Round, made.YearOnly,
        made.Microaggregate, made.AddNoise, made.PRAM, made.RankSwap, made.ZipPrefix, made.PostcodePrefix, made.Codes,
        made.Keep,
    )  # fmt: skip
    found: dict[str, Callable[..., Technique]] = {each.name: partial(_with_tuples, each) for each in plain}
    found[made.KeyedHash.name] = partial(_keyed_hash, folder)
    found[made.Tokens.name] = partial(_tokens, folder)
    found[made.MaskText.name] = partial(_mask_text, folder)
    for suppression in (made.SuppressCells, made.SuppressRows):
        found[suppression.name] = partial(_suppression, suppression)
    return found


def _with_tuples(kind: Callable[..., Technique], **options: Any) -> Technique:
    return kind(**{name: tuple(each) if isinstance(each, list) else each for name, each in options.items()})


def _keyed_hash(folder: Path, secret: Any = None, salt: str | None = None, **options: Any) -> Technique:
    from ziggurat.anonymize import KeyedHash

    try:
        told = None if salt is None else bytes.fromhex(str(salt))
    except ValueError:
        raise ParameterError("A salt is written in hexadecimal digits, as a record has it.") from None
    return KeyedHash(_secret(secret, folder), told, **options)


def _secret(where: Any, folder: Path) -> str:
    if not isinstance(where, Mapping) or len(where) != 1 or next(iter(where)) not in ("file", "variable"):
        raise ParameterError(_SECRET)
    if "variable" in where:
        found = os.environ.get(str(where["variable"]))
        if found is None:
            raise ParameterError(
                f"The environment variable {str(where['variable'])!r} is not set; it holds the secret."
            )
        return found
    try:
        return (folder / str(where["file"])).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise DataError(f"The secret in {str(where['file'])!r} does not exist or cannot be read.") from None


def _tokens(folder: Path, vault: str = "", **options: Any) -> Technique:
    from ziggurat.anonymize import Tokens, Vault

    if not vault:
        raise ParameterError("Tokens need a vault: a file that only you can read, such as vault: keep/patients.vault.")
    return Tokens(Vault(folder / str(vault)), **options)


def _mask_text(folder: Path, names: Any = (), **options: Any) -> Technique:
    """Names are listed, or in files: names: {file: names.txt}, names: {file: [first.txt, last.txt]}."""
    from ziggurat.anonymize import MaskText, read_names

    if isinstance(names, Mapping):
        files = names.get("file", ())
        listed = [files] if isinstance(files, str) else list(files)
        names = [name for file in listed for name in read_names(folder / str(file))]
    return _with_tuples(MaskText, names=tuple(names), **options)


def _suppression(kind: Callable[[SuppressionRule], Technique], rule: Any = None, **options: Any) -> Technique:
    from ziggurat.anonymize import Among, Outside, Rare

    rules: dict[str, Callable[..., SuppressionRule]] = {each.name: each for each in (Among, Outside, Rare)}
    if rule not in rules:
        raise ParameterError(f"Suppression goes by a rule: {', '.join(rules)}.")
    return kind(rules[rule](**options))
