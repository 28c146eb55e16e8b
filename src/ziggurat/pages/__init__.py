"""HTML pages in the house style, one file each that makes no request: a base, parts, and how they are filled."""

from ziggurat.pages._parts import Grid, Picture, TableCell, inline_svg
from ziggurat.pages._rendering import render

__all__ = ["Grid", "Picture", "TableCell", "inline_svg", "render"]
