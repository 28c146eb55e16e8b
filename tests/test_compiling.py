"""Machine code on disk: what an older version kept there is compiled anew."""

import os
import subprocess
import sys

KERNEL = """from typing import NamedTuple
import numpy as np
from ziggurat.compiling import compiled
class {name}(NamedTuple):
    values: np.ndarray
@compiled
def add(x):
    return x.values.sum()
print(add({name}(np.ones({rows}))), bool(add.stats.cache_hits))
"""


def run(folder, name, rows=3):
    (folder / "kept.py").write_text(KERNEL.format(name=name, rows=rows))
    os.utime(folder / "kept.py", (rows, rows))
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import kept"
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_machine_code_is_kept(tmp_path):
    assert [run(tmp_path, "Held"), run(tmp_path, "Held")] == ["3.0 False", "3.0 True"]


def test_machine_code_that_names_a_class_of_an_older_version_is_made_anew(tmp_path):
    run(tmp_path, "Held")
    assert run(tmp_path, "Renamed", rows=4) == "4.0 False"
