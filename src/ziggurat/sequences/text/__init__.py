"""Headlines: networks that write them, with and without a promise.

`prepare_headlines` cleans titles, `tag_headlines` finds parts of speech, `HeadlineWriter` learns and writes. The parts
that train and draw stand on PyTorch and NumPy alone: `CodedHeadlines`, `WriterNetwork`, `train_network`, `draw_words`,
`score_windows`.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.text._codes import CodedHeadlines, TrigramWindows, WordList
    from ziggurat.sequences.text._network import ARCHITECTURES, NetworkShape, WriterNetwork, build_network
    from ziggurat.sequences.text._rows import RowNetwork, RowShape, row_losses
    from ziggurat.sequences.text._tags import PENN_TAGS, tag_headlines
    from ziggurat.sequences.text._titles import TOPICS, clean_title, prepare_headlines, topic_name
    from ziggurat.sequences.text._training import LearningCurve, TrainingCourse, score_windows, train_network
    from ziggurat.sequences.text._writer import HeadlineWriter
    from ziggurat.sequences.text._writing import NOTE, WrittenHeadline, draw_words
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_codes": "CodedHeadlines TrigramWindows WordList",
            "_network": "ARCHITECTURES NetworkShape WriterNetwork build_network",
            "_rows": "RowNetwork RowShape row_losses",
            "_tags": "PENN_TAGS tag_headlines",
            "_titles": "TOPICS clean_title prepare_headlines topic_name",
            "_training": "LearningCurve TrainingCourse score_windows train_network",
            "_writer": "HeadlineWriter",
            "_writing": "NOTE WrittenHeadline draw_words",
        },
    )

__all__ = [
    "ARCHITECTURES",
    "NOTE",
    "PENN_TAGS",
    "TOPICS",
    "CodedHeadlines",
    "HeadlineWriter",
    "LearningCurve",
    "NetworkShape",
    "RowNetwork",
    "RowShape",
    "TrainingCourse",
    "TrigramWindows",
    "WordList",
    "WriterNetwork",
    "WrittenHeadline",
    "build_network",
    "clean_title",
    "draw_words",
    "prepare_headlines",
    "row_losses",
    "score_windows",
    "tag_headlines",
    "topic_name",
    "train_network",
]
