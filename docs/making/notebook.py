"""Draws the pictures of the guide to notebooks, from invented patients: python docs/making/notebook.py."""

import tempfile
from pathlib import Path

import matplotlib as mpl

import ziggurat
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.drawing import encode, styled
from ziggurat.files import write_bytes
from ziggurat.privacy import Neighbours
from ziggurat.randomness import seeded

PICTURES = Path(__file__).parents[1] / "pictures"
QUESTIONS = {
    "answer-bars": "SELECT diagnosis, smoker, AVG(cost) AS mean_cost FROM clinic GROUP BY diagnosis, smoker",
    "answer-time": "SELECT EXTRACT(MONTH FROM admission_date) AS month, sex, COUNT(*) AS n FROM clinic "
    "GROUP BY EXTRACT(MONTH FROM admission_date), sex",
}


def save(name, axes):
    """Write a picture in the house style."""
    with styled():
        write_bytes(PICTURES / f"{name}.svg", encode(axes.figure, "svg"))


def main():
    """Ask, and draw what is answered and what it cost."""
    mpl.use("Agg")
    schema = clinic_patients_schema()
    table = ziggurat.read(clinic_patients(3000), schema)
    with tempfile.TemporaryDirectory() as folder, ziggurat.Ledger.open(f"{folder}/ledger.db") as ledger:
        ledger.create_budget("clinic", 4, "1e-6", Neighbours(schema.unit))
        ledger.grant("clinic", "ada", 2, "1e-6")
        ledger.grant("clinic", "bo", 1)
        session = ziggurat.Session(ledger, "ada", {"clinic": table}, source=seeded(7))
        for name, question in QUESTIONS.items():
            save(name, session.ask(question, "0.4", rows_per_unit=1, groups_per_unit=1).plot())
        save("ledger", ledger.plot("clinic"))


if __name__ == "__main__":
    main()
