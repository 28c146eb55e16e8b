"""Private gradient descent for PyTorch modules: sample, clip, add up, add noise, step.

The unit is a row, the relation add-or-remove-one. Each of T steps takes every row with probability q, clips its
gradient to length C and adds normal noise of deviation sigma C to the sum: T times the sampled Gaussian mechanism,
which `event_of_rounds` writes down. `PrivateTraining` states the promise and what it rests on;
`DescentPlan.sensitivity` and `_gradients` say what rounding adds to C.

`Rounds.of` and `noise_multiplier` find q, T and sigma for a budget before a row is read; `build_module` and
`choose_gradients` make a module, try it on invented rows and refuse one that mixes rows; `PrivateTraining.run` trains
it and goes on from `Checkpoints`; `weights_of` gives what may leave. `LSTM`, `GRU`, `SelfAttention`,
`TransformerBlock`, and what a class of your own that is a `RowwiseModule` makes of them, are trained quickly.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.descent._attention import SelfAttention, TransformerBlock
    from ziggurat.descent._calibration import Rounds, event_of_rounds, noise_multiplier, warn_of_noise
    from ziggurat.descent._checkpoints import Checkpoints
    from ziggurat.descent._gradients import Gradients, choose_gradients
    from ziggurat.descent._modules import (
        build_module,
        cross_entropy,
        invent_rows,
        outputs_of,
        require_device,
        squared_loss,
        starting_from,
        token_losses,
        weights_of,
        with_weights,
    )
    from ziggurat.descent._recurrent import GRU, LSTM
    from ziggurat.descent._rowwise import Dropout, RowwiseModule
    from ziggurat.descent._training import Descent, DescentPlan, PrivateTraining, Progress, count_parameters
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_attention": "SelfAttention TransformerBlock",
            "_calibration": "Rounds event_of_rounds noise_multiplier warn_of_noise",
            "_checkpoints": "Checkpoints",
            "_gradients": "Gradients choose_gradients",
            "_modules": """
                build_module cross_entropy invent_rows outputs_of require_device squared_loss starting_from
                token_losses weights_of with_weights
            """,
            "_recurrent": "GRU LSTM",
            "_rowwise": "Dropout RowwiseModule",
            "_training": "Descent DescentPlan PrivateTraining Progress count_parameters",
        },
    )

__all__ = [
    "GRU",
    "LSTM",
    "Checkpoints",
    "Descent",
    "DescentPlan",
    "Dropout",
    "Gradients",
    "PrivateTraining",
    "Progress",
    "Rounds",
    "RowwiseModule",
    "SelfAttention",
    "TransformerBlock",
    "build_module",
    "choose_gradients",
    "count_parameters",
    "cross_entropy",
    "event_of_rounds",
    "invent_rows",
    "noise_multiplier",
    "outputs_of",
    "require_device",
    "squared_loss",
    "starting_from",
    "token_losses",
    "warn_of_noise",
    "weights_of",
    "with_weights",
]
