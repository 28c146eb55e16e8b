"""Executes the notebook of the guides and draws a picture of what its analyst sees: python docs/making/own_data.py."""

import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import nbformat
from ipykernel.kernelspec import write_kernel_spec
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from PIL import Image

import ziggurat

DOCS = Path(__file__).parents[1]
NOTEBOOK = DOCS / "guides/own-data.ipynb"
PICTURE = DOCS / "pictures/notebook.png"
SIZE = (860, 1580)
CALM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
STYLE = """
body { margin: 18px 26px; font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2933; background: #fff }
pre { margin: 14px 0 4px; padding: 7px 10px; background: #f4f5f7; border-left: 3px solid #0072b2; font-size: 12px }
p { margin: 10px 0 } img { max-width: 640px; display: block } pre.said { background: none; border: none; padding: 0 }
"""


def execute(more=()):
    """Run the notebook in a kernel of this interpreter, of which nothing stays behind, and give it with its outputs.

    Parameters
    ----------
    more
        Cells to run after it.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells += [nbformat.v4.new_code_cell(each) for each in more]
    with tempfile.TemporaryDirectory() as folder:
        return NotebookClient(notebook, km=make_kernel(Path(folder)), timeout=120).execute(cwd=folder, cleanup_kc=True)


def make_kernel(folder):
    """Describe a kernel in a folder of its own; it speaks by files there, and has the Ziggurat imported here."""
    known = {"PYTHONPATH": str(Path(ziggurat.__file__).parents[1]), "IPYTHONDIR": str(folder / "ipython")}
    write_kernel_spec(folder / "kernels/python3", overrides={"env": known})
    kernels = KernelSpecManager(kernel_dirs=[str(folder / "kernels")], ensure_native_kernel=False)
    place = {"transport": "ipc", "ip": str(folder / "k"), "connection_file": str(folder / "kernel.json")}
    return AsyncKernelManager(kernel_name="python3", kernel_spec_manager=kernels, **place)


def write_page(cells):
    """Write cells with what they gave as a page: cards as they are, pictures, words and plain text."""
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>' + "".join(map(write_cell, cells))


def write_cell(cell):
    """Write one cell."""
    if cell.cell_type != "code":
        return "".join(f"<p>{escape(each)}</p>" for each in cell.source.split("\n\n") if not each.startswith("#"))
    return f"<pre>{escape(cell.source)}</pre>" + "".join(map(write_output, cell.outputs))


def write_output(output):
    """Write what a cell gave, in the richest form it has."""
    data = output.get("data", {})
    if "text/html" in data:
        return data["text/html"]
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{data["image/png"]}">'
    return f'<pre class="said">{escape(data.get("text/plain", output.get("text", "")))}</pre>'


def photograph(page, picture):
    """Let a browser draw a page into a picture."""
    browser = shutil.which("chromium") or sys.exit("There is no chromium on this machine; install one.")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page)
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        told = [
            "--disable-sync",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/user",
            size,
            f"--screenshot={picture}",
        ]
        subprocess.run([browser, *CALM, *told, f"{folder}/page.html"], check=True, capture_output=True)  # noqa: S603
    Image.open(picture).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        picture, optimize=True
    )


def main():
    """Execute, and draw the part between the session and the release."""
    cells = execute().cells
    first = next(place for place, cell in enumerate(cells) if "Session(" in cell.source)
    last = next(place for place, cell in enumerate(cells) if "ledger.plot" in cell.source)
    photograph(write_page(cells[first : last + 1]), PICTURE)


if __name__ == "__main__":
    main()
