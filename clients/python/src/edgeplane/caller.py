"""Between the methods, which are generated, and what carries them."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Protocol


class Caller(Protocol):
    """Calls a method by name."""

    def call(self, method: str, params: Optional[Mapping[str, Any]] = None, *, repeat: str = "again") -> Any:
        """Gives the result.

        :param repeat: what calling once more means: `safe`, `same` or `again`.
        """


class Group:
    """The methods of one profile or object."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _call(
        self,
        method: str,
        required: Dict[str, Any],
        optional: Dict[str, Any],
        ctx: Optional[Mapping[str, Any]],
        repeat: str,
    ) -> Any:
        params = dict(required)
        params.update((name, value) for name, value in optional.items() if value is not None)
        if ctx is not None:
            params["ctx"] = ctx
        return self._caller.call(method, params, repeat=repeat)
