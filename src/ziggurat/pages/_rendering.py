"""Fill a template: whatever is filled in stays text, and what nobody gave is an error, not a gap."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ziggurat import drawing

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """Give a page as one HTML file that needs nothing else: no script, no font, no request to anywhere.

    Parameters
    ----------
    template
        Where it lies in this package, beside the module that fills it: 'cli/risk/page.html'.
    values
        What it shows. Texts are escaped; only what `inline_svg` and the shapes give is markup.
    """
    text = _environment().get_template(template).render(**values)
    # Halves of characters, which no file can hold, are written as escapes.
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("ziggurat", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"colours": drawing.COLOURS, "ink": drawing.INK, "soft": drawing.SOFT, "pale": drawing.PALE}
    return made
