"""The only place in Ziggurat where a random number is drawn.

A `Source` is secure (the default everywhere) or seeded (rehearsals and tests). The samplers turn its words
into noise and choices with integers alone, so that the stated distribution is the one drawn. The time a draw
takes depends on its value, most of all for the first ones of a process, which are not compiled: let nobody who sees a
result measure how long its noise took.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.randomness._choices import (
        exponential_choice,
        exponential_choices,
        permute_and_flip,
        sample_without_replacement,
        shuffle,
    )
    from ziggurat.randomness._compiled import compiled
    from ziggurat.randomness._limits import carry_gaussian, carry_laplace, carry_rate
    from ziggurat.randomness._samplers import (
        bernoulli,
        bernoulli_exp,
        discrete_gaussian,
        discrete_laplace,
        geometric,
        rounded_gaussian,
        uniform_below,
    )
    from ziggurat.randomness._source import Source, choose_source, secure, seeded
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_choices": "exponential_choice exponential_choices permute_and_flip sample_without_replacement shuffle",
            "_compiled": "compiled",
            "_limits": "carry_gaussian carry_laplace carry_rate",
            "_samplers": """
                bernoulli bernoulli_exp discrete_gaussian discrete_laplace geometric rounded_gaussian uniform_below
            """,
            "_source": "Source choose_source secure seeded",
        },
    )

__all__ = [
    "Source",
    "bernoulli",
    "bernoulli_exp",
    "carry_gaussian",
    "carry_laplace",
    "carry_rate",
    "choose_source",
    "compiled",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_choice",
    "exponential_choices",
    "geometric",
    "permute_and_flip",
    "rounded_gaussian",
    "sample_without_replacement",
    "secure",
    "seeded",
    "shuffle",
    "uniform_below",
]
