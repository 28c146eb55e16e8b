"""`train-generator`: a network that writes a record as a short code, and a code as a record.

All three variants (scikit-learn, PyTorch, Keras) train the same network, an autoencoder with tanh layers
d - hidden - code - hidden - d, and hand out nothing but its weights. So `privatize` needs none of the frameworks, and
a stored generator cannot run code. The code lies in [-1, 1] in every coordinate by construction, whatever the record.

The training itself is not differentially private, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.records._frameworks import (
    keras_on_torch,
    seeded_torch,
    torch_layers,
    torch_module,
    torch_trained,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data.encoding import Matrix

OUTPUTS = ("generator", "reconstruction_error", "event", "statement")

UNPROTECTED = "an autoencoder trained on private records without protection"


@step("train-generator", outputs=OUTPUTS)
def train_generator(
    train: pa.Table,
    schema: Mapping[str, Any],
    *,
    code: int = 2,
    hidden: int = 16,
    epochs: int = 200,
    batch: int = 64,
    learning_rate: float = 0.005,
    target: str = "target",
    public: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Train an autoencoder with scikit-learn.

    Promise: none for the records of `train`. The weights are a function of them without any noise, so the generator
    and whatever it decodes are written down as an unbounded event, unless `public` says that `train` is public.

    Parameters
    ----------
    train, schema
        The records to learn from, and their public schema.
    code
        How many numbers a record is squeezed into.
    hidden
        The width of the layers around the code.
    epochs, batch, learning_rate
        How Adam trains it.
    target
        A column that stays out of the code: it is protected separately.
    public
        State that `train` holds nobody's secrets.

    Returns
    -------
    dict
        `generator` (weights, columns, and whether its training data were public), its `reconstruction_error`, the
        `event` to be written down and a `statement` in words.
    """
    from sklearn.neural_network import MLPRegressor

    from ziggurat.threads import one_thread

    rows, columns = _rows(train, schema, target, code, hidden)
    with one_thread():
        network = MLPRegressor(
            hidden_layer_sizes=(hidden, code, hidden),
            activation="tanh",
            batch_size=min(batch, len(rows)),
            learning_rate_init=learning_rate,
            max_iter=epochs,
            n_iter_no_change=epochs,
            random_state=seed % 2**32,
        )
        _quietly_fitted(network, rows)
        return _hand_out(network.coefs_, network.intercepts_, columns, rows, public)


@step("train-generator-torch", outputs=OUTPUTS)
def train_generator_torch(
    train: pa.Table,
    schema: Mapping[str, Any],
    *,
    code: int = 2,
    hidden: int = 16,
    epochs: int = 200,
    batch: int = 64,
    learning_rate: float = 0.005,
    target: str = "target",
    public: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Do as `train-generator`, with PyTorch."""
    torch = torch_module()
    rows, columns = _rows(train, schema, target, code, hidden)
    with seeded_torch(seed):
        network = torch_layers(_widths(rows, hidden, code), torch.nn.Tanh)
        torch_trained(network, rows, rows, torch.nn.MSELoss(), epochs, batch, learning_rate)
        layers = [part for part in network if isinstance(part, torch.nn.Linear)]
        weights = [layer.weight.detach().numpy().T.copy() for layer in layers]
        return _hand_out(weights, [layer.bias.detach().numpy().copy() for layer in layers], columns, rows, public)


@step("train-generator-keras", outputs=OUTPUTS)
def train_generator_keras(
    train: pa.Table,
    schema: Mapping[str, Any],
    *,
    code: int = 2,
    hidden: int = 16,
    epochs: int = 200,
    batch: int = 64,
    learning_rate: float = 0.005,
    target: str = "target",
    public: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Do as `train-generator`, with Keras on its PyTorch back end."""
    keras = keras_on_torch()
    from ziggurat.experiments.steps.records._frameworks import keras_layers

    rows, columns = _rows(train, schema, target, code, hidden)
    with keras.device("cpu"), seeded_torch(seed):
        network = keras_layers(_widths(rows, hidden, code), "tanh", "linear", seed)
        network.compile(optimizer=keras.optimizers.Adam(learning_rate), loss="mse")
        network.fit(rows, rows, epochs=epochs, batch_size=batch, verbose=0)
        arrays = [weight.astype(float) for weight in network.get_weights()]
        return _hand_out(arrays[::2], arrays[1::2], columns, rows, public)


def _rows(
    train: pa.Table, schema: Mapping[str, Any], target: str, code: int, hidden: int
) -> tuple[Matrix, tuple[str, ...]]:
    from ziggurat.data.encoding import Encoding

    if code < 1 or hidden < 1:
        raise ExperimentError("'code' and 'hidden' must be at least 1.")
    encoding = Encoding(schema, without=[target])
    return encoding.encode(train), encoding.names


def _widths(rows: Matrix, hidden: int, code: int) -> list[int]:
    return [rows.shape[1], hidden, code, hidden, rows.shape[1]]


def _quietly_fitted(network: Any, rows: Matrix) -> None:
    """Fit for the stated number of rounds; that they are all used is meant, not a warning."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(rows, rows)


def _hand_out(
    weights: Sequence[Any], biases: Sequence[Any], columns: Sequence[str], rows: Matrix, public: bool
) -> dict[str, Any]:
    from ziggurat.experiments.steps.records._autoencoder import decode, encode
    from ziggurat.privacy import Neighbours, Relation, UnboundedEvent

    arrays = {f"weight_{place}": weight for place, weight in enumerate(weights)}
    arrays |= {f"bias_{place}": bias for place, bias in enumerate(biases)}
    error = float(((decode(arrays, encode(arrays, rows)) - rows) ** 2).mean())
    unprotected = UnboundedEvent(Neighbours(relation=Relation.REPLACE_ONE), UNPROTECTED)
    return {
        "generator": {"weights": arrays, "columns": list(columns), "public": public},
        "reconstruction_error": error,
        "event": None if public else unprotected.to_dict(),
        "statement": _statement(public),
    }


def _statement(public: bool) -> str:
    if public:
        return "The generator was trained on data that are stated to be public."
    return (
        "The generator was trained on private records without protection: neither it nor what it decodes carries a "
        "guarantee for the records it was trained on."
    )
