"""A typed client of EdgePlane, the runtime of persistent AI agents.

    from edgeplane import Client

    with Client.unix() as client:
        for agent in client.runtime.agent.list()["items"]:
            print(agent["metadata"]["name"], agent["status"]["phase"])
"""

from . import names as errors_by_name
from . import types
from .client import Client
from .errors import Disconnected, EdgePlaneError, NodeError, StreamEnded, TimedOut
from .lines import default_socket
from .names import *  # noqa: F401,F403: an exception for each name of an error

__all__ = [
    "Client",
    "Disconnected",
    "EdgePlaneError",
    "NodeError",
    "StreamEnded",
    "TimedOut",
    "default_socket",
    "types",
    *(cls.__name__ for cls in errors_by_name.BY_NAME.values()),
]
