"""`classify-torch` and `classify-keras`: the control test with a small network instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.records._classify import OUTPUTS
from ziggurat.experiments.steps.records._frameworks import (
    keras_on_torch,
    seeded_torch,
    torch_layers,
    torch_module,
    torch_trained,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data.encoding import Labels, Matrix
    from ziggurat.experiments.steps.records._judging import ThresholdBy

# Fits a network and gives it as a function from rows to scores, with its weights by name.
Trained = tuple[Callable[["Matrix"], "Matrix"], dict[str, Any]]


@step("classify-torch", outputs=OUTPUTS)
def classify_torch(
    train: pa.Table,
    validation: pa.Table,
    test: pa.Table,
    schema: Mapping[str, Any],
    *,
    hidden: Sequence[int] = (32,),
    epochs: int = 40,
    batch: int = 64,
    learning_rate: float = 0.003,
    target: str = "target",
    threshold_by: ThresholdBy = "tpr-fpr",
    seed: int = 0,
) -> dict[str, Any]:
    """Do as `classify`, with a multilayer perceptron in PyTorch; `model` is its state dict.

    Parameters
    ----------
    hidden
        The widths of the hidden layers, each followed by a rectifier.
    epochs, batch, learning_rate
        How Adam trains it, on the CPU, on one thread, from `seed`.
    """
    torch = torch_module()

    def fit(rows: Matrix, truth: Labels) -> Trained:
        network = torch_layers([rows.shape[1], *hidden, 1], torch.nn.ReLU)
        goal = truth[:, None].astype(float)
        torch_trained(network, rows, goal, torch.nn.BCEWithLogitsLoss(), epochs, batch, learning_rate)

        def scores(asked: Matrix) -> Matrix:
            with torch.no_grad():
                answer: Matrix = torch.sigmoid(network(torch.from_numpy(asked)))[:, 0].numpy()
                return answer

        return scores, dict(network.state_dict())

    with seeded_torch(seed):
        return _test(fit, train, validation, test, schema, target, threshold_by)


@step("classify-keras", outputs=OUTPUTS)
def classify_keras(
    train: pa.Table,
    validation: pa.Table,
    test: pa.Table,
    schema: Mapping[str, Any],
    *,
    hidden: Sequence[int] = (32,),
    epochs: int = 40,
    batch: int = 64,
    learning_rate: float = 0.003,
    target: str = "target",
    threshold_by: ThresholdBy = "tpr-fpr",
    seed: int = 0,
) -> dict[str, Any]:
    """Do as `classify-torch`, with Keras on its PyTorch back end; `model` maps the names of weights to arrays."""
    keras = keras_on_torch()
    from ziggurat.experiments.steps.records._frameworks import keras_layers, keras_weights

    def fit(rows: Matrix, truth: Labels) -> Trained:
        network = keras_layers([rows.shape[1], *hidden, 1], "relu", "sigmoid", seed)
        network.compile(optimizer=keras.optimizers.Adam(learning_rate), loss="binary_crossentropy")
        network.fit(rows, truth[:, None].astype(float), epochs=epochs, batch_size=batch, verbose=0)
        return lambda asked: network.predict(asked, verbose=0)[:, 0].astype(float), keras_weights(network)

    with keras.device("cpu"), seeded_torch(seed):
        return _test(fit, train, validation, test, schema, target, threshold_by)


def _test(
    fit: Callable[[Matrix, Labels], Trained],
    train: pa.Table,
    validation: pa.Table,
    test: pa.Table,
    schema: Mapping[str, Any],
    target: str,
    threshold_by: ThresholdBy,
) -> dict[str, Any]:
    from ziggurat.data.encoding import Encoding, labels_of
    from ziggurat.experiments.steps.records._judging import best_threshold, measure, require_two_classes

    encoding = Encoding(schema, without=[target])
    truth = labels_of(train, target)
    require_two_classes(truth, "training")
    scores, weights = fit(encoding.encode(train), truth)
    threshold = best_threshold(scores(encoding.encode(validation)), labels_of(validation, target), threshold_by)
    return {**measure(scores(encoding.encode(test)), labels_of(test, target), threshold), "model": weights}
