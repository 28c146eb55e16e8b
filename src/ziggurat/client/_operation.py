"""Operations, written once: the same generator is a function that waits on one side, and is awaited on the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ziggurat.client._effects import Steps

if TYPE_CHECKING:
    from ziggurat.client._senders import AwaitingWire, BlockingWire

Said = ParamSpec("Said")
Given = TypeVar("Given")


class BlockingSide:
    """Whose operations wait until they are done.

    Parameters
    ----------
    wire
        What sends.
    """

    def __init__(self, wire: BlockingWire) -> None:
        self._wire = wire


class AwaitingSide:
    """Whose operations are awaited.

    Parameters
    ----------
    wire
        What sends.
    """

    def __init__(self, wire: AwaitingWire) -> None:
        self._wire = wire


class Operation(Generic[Said, Given]):
    """A method that talks to a server, on either side.

    Parameters
    ----------
    steps
        The method as a generator of what is to be sent.
    """

    def __init__(self, steps: Callable[Concatenate[Any, Said], Steps[Given]]) -> None:
        self.steps = steps
        self.__doc__ = steps.__doc__
        self.__name__ = steps.__name__
        self.__signature__ = signature(steps).replace(return_annotation=Parameter.empty)

    def __call__(self, whose: Any, /, *arguments: Said.args, **named: Said.kwargs) -> Any:
        """Call the method of an object by its class."""
        return self.__get__(whose, type(whose))(*arguments, **named)

    @overload
    def __get__(self, whose: None, kind: type[object]) -> Operation[Said, Given]: ...

    @overload
    def __get__(self, whose: BlockingSide, kind: type[object]) -> Callable[Said, Given]: ...

    @overload
    def __get__(self, whose: AwaitingSide, kind: type[object]) -> Callable[Said, Awaitable[Given]]: ...

    def __get__(self, whose: Any, kind: type[object]) -> Any:
        """Give the method of an object, which runs its steps by what that sends with."""
        if whose is None:
            return self

        @wraps(self.steps)
        def call(*arguments: Any, **named: Any) -> Any:
            return whose._wire.run(self.steps(whose, *arguments, **named))

        own = list(self.__signature__.parameters.values())[1:]
        call.__signature__ = self.__signature__.replace(parameters=own)  # type: ignore[attr-defined]
        return call


def operation(steps: Callable[Concatenate[Any, Said], Steps[Given]]) -> Operation[Said, Given]:
    """Make a generator of steps a method of both sides."""
    return Operation(steps)
