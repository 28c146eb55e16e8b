"""Private gradient descent for PyTorch modules: sample, clip, add up, add noise, step."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.descent._calibration import Rounds, event_of, noise_multiplier, warn_of_noise
    from ziggurat.descent._checkpoints import Checkpoints
    from ziggurat.descent._gradients import Gradients, choose_gradients
    from ziggurat.descent._training import Descent, DescentPlan, PrivateTraining, Progress, parameters_of
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_calibration": "Rounds event_of noise_multiplier warn_of_noise",
            "_checkpoints": "Checkpoints",
            "_gradients": "Gradients choose_gradients",
            "_training": "Descent DescentPlan Progress PrivateTraining parameters_of",
        },
    )

__all__ = [
    "Checkpoints",
    "Descent",
    "DescentPlan",
    "Gradients",
    "PrivateTraining",
    "Progress",
    "Rounds",
    "choose_gradients",
    "event_of",
    "noise_multiplier",
    "parameters_of",
    "warn_of_noise",
]
