"""What a call fails with: the node's word, or that there was none."""

from __future__ import annotations

from typing import Any, ClassVar, Dict, List, Optional


class EdgePlaneError(Exception):
    """Anything that a call may fail with."""


class NodeError(EdgePlaneError):
    """The node said no. Each name has a class of its own, by which it is caught; `name` is the contract."""

    NAME: ClassVar[str] = ""
    CODE: ClassVar[int] = 0
    HTTP_STATUS: ClassVar[int] = 0

    def __init__(self, error: Dict[str, Any]) -> None:
        data = error.get("data") or {}
        self.message: str = str(error.get("message", ""))
        self.name: str = str(data.get("name") or self.NAME or "unknown")
        self.code: int = int(error.get("code", self.CODE))
        #: Whether an identical request can help and cannot double an effect.
        self.retryable: bool = bool(data.get("retryable", False))
        #: Whether the request changed anything: `none`, `applied` or `unknown`.
        self.effect: str = str(data.get("effect", "unknown"))
        #: The next step, for people.
        self.hint: Optional[str] = data.get("hint")
        #: Everything that is wrong, where it is more than one thing.
        self.violations: List[Any] = list(data.get("violations") or [])
        #: All that the node said about it.
        self.data: Dict[str, Any] = dict(data)
        super().__init__(f"{self.message} ({self.name})")


class Disconnected(EdgePlaneError):
    """The node cannot be reached, or went away before it answered.

    `effect` is `none` if nothing of the request can have reached it, else `unknown`: read, then decide.
    """

    def __init__(self, message: str, effect: str = "unknown") -> None:
        super().__init__(message)
        self.effect = effect


class TimedOut(EdgePlaneError):
    """The node did not answer in the time that the client waits. Whether the request took effect is not known."""

    effect = "unknown"


class StreamEnded(EdgePlaneError):
    """The node ended a subscription, and asking again would not help."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the stream ended: {reason}")
        self.reason = reason


def node_error(error: Dict[str, Any]) -> NodeError:
    """The exception of the name that an error object has."""
    from .names import BY_NAME  # it is made of the class above

    name = str((error.get("data") or {}).get("name"))
    return BY_NAME.get(name, NodeError)(error)
