"""Questions over the wire: planned and paid as everywhere, answered at a time that no row chooses, done once."""

from ziggurat.service.asking._desk import AskDesk
from ziggurat.service.asking._repeats import Begun, Repeated, Repeats
from ziggurat.service.asking._slots import Kept, Slots
from ziggurat.service.asking._waiting import WaitingRoom

__all__ = ["AskDesk", "Begun", "Kept", "Repeated", "Repeats", "Slots", "WaitingRoom"]
