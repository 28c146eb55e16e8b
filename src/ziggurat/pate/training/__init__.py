"""How networks and classifiers are trained, many at once: what teachers and students stand on."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.pate.training._answers import Networks
    from ziggurat.pate.training._checkpoints import write_bytes
    from ziggurat.pate.training._classifiers import (
        Classifiers,
        fit_classifiers,
        parse_classifier,
        read_classifier,
        require_classifier,
        write_classifier,
    )
    from ziggurat.pate.training._cuts import best_cut
    from ziggurat.pate.training._ensemble import Progress, TrainingJob, require_devices
    from ziggurat.pate.training._networks import CNN, MLP, Network, require_torch
    from ziggurat.pate.training._rows import check_features, check_labels, find_classes, split_rows
    from ziggurat.pate.training._settings import Candidate, Placement, RandomSearch, Training, require_count
    from ziggurat.pate.training._stacked import require_stackable
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_answers": "Networks",
            "_checkpoints": "write_bytes",
            "_classifiers": """
                Classifiers fit_classifiers parse_classifier read_classifier require_classifier write_classifier
            """,
            "_cuts": "best_cut",
            "_ensemble": "Progress TrainingJob require_devices",
            "_networks": "CNN MLP Network require_torch",
            "_rows": "check_features check_labels find_classes split_rows",
            "_settings": "Candidate Placement RandomSearch Training require_count",
            "_stacked": "require_stackable",
        },
    )

__all__ = [
    "CNN",
    "MLP",
    "Candidate",
    "Classifiers",
    "Network",
    "Networks",
    "Placement",
    "Progress",
    "RandomSearch",
    "Training",
    "TrainingJob",
    "best_cut",
    "check_features",
    "check_labels",
    "find_classes",
    "fit_classifiers",
    "parse_classifier",
    "read_classifier",
    "require_classifier",
    "require_count",
    "require_devices",
    "require_stackable",
    "require_torch",
    "split_rows",
    "write_bytes",
    "write_classifier",
]
