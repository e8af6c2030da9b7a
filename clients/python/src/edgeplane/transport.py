"""What carries calls: one conversation for requests, and one more for each stream that is followed.

A stream has a conversation of its own so that a reader who is slow holds up nobody but itself.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Protocol, Tuple

#: Is given what the node says unasked while a call waits: the name of the notification and its parameters.
Listener = Callable[[str, Dict[str, Any]], None]

#: Where a stream goes on: the parameters that name the place.
Place = Dict[str, Any]


class Conversation(Protocol):
    """Requests one after another."""

    def call(self, method: str, params: Mapping[str, Any], seconds: Optional[float], listener: Optional[Listener]) -> Any:
        """Gives the result, or raises what `edgeplane.errors` names."""

    def close(self) -> None:
        """Ends it."""


class Transport(Protocol):
    """Makes conversations."""

    def open(self, seconds: Optional[float]) -> Conversation:
        """Begins one for requests."""

    def follow(
        self, params: Mapping[str, Any], place: Optional[Place], seconds: Optional[float]
    ) -> Iterator[Tuple[Place, Optional[Dict[str, Any]]]]:
        """Follows a stream from a place, or from where `params` say, on a connection of its own until that breaks.

        Gives places and what was there; first the place where it begins, with nothing. Closing the iterator ends it.
        """


def without_place(params: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters of a subscription but for those that say where it begins."""
    return {name: value for name, value in params.items() if name not in ("after", "cursor", "from", "snapshot")}
