"""The reference agent in Python holds every conversation of `../conversations`."""

from __future__ import annotations

import io
import json
import pathlib
import sys
import unittest
from typing import Callable

from edgeplane_native import Agent, RpcError
from notes_agent import parse
from scripted_node import ScriptedNode

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = [sys.executable, str(HERE / "notes_agent.py")]


class Conversations(unittest.TestCase):
    """One test for each file, named after it."""


def conversation_test(path: pathlib.Path) -> Callable[[Conversations], None]:
    def test(_: Conversations) -> None:
        ScriptedNode(COMMAND, json.loads(path.read_text(encoding="utf-8"))).play()

    return test


FILES = sorted((HERE.parent / "conversations").glob("*.json"))
for file in FILES:
    setattr(Conversations, f"test_{file.stem}", conversation_test(file))


class Table(unittest.TestCase):
    def test_there_are_conversations(self) -> None:
        self.assertGreater(len(FILES), 5)


class Commands(unittest.TestCase):
    def test_a_command_stands_first_or_after_run(self) -> None:
        table = [
            ("/notes", ("notes", "")),
            ("  /Remember a  b c ", ("remember", "a  b c")),
            ("Run /briefing", ("briefing", "")),
            ("run the /briefing, please", ("briefing", "please")),
            ("Run away", None),
            ("What does /notes do?", None),
            ("/", None),
            ("", None),
        ]
        for content, expected in table:
            with self.subTest(content):
                self.assertEqual(parse(content), expected)


class Native(unittest.TestCase):
    def test_an_end_during_a_request_is_an_error_and_not_a_wait(self) -> None:
        class Asker(Agent):
            failure = ""

            def on_start(self) -> None:
                try:
                    self.request("runtime/agent.list")
                except RpcError as error:
                    self.failure = error.name

        start = b'{"jsonrpc":"2.0","method":"agent/session.start","params":{"agent":"a"}}\n'
        agent = Asker(io.BytesIO(start), io.BytesIO())
        self.assertEqual(agent.run(), 0)
        self.assertEqual(agent.failure, "unavailable")

    def test_a_lone_surrogate_is_written_as_valid_text(self) -> None:
        sink = io.BytesIO()
        Agent(io.BytesIO(), sink).report("log", "\ud800 and more")
        self.assertIn(" and more", json.loads(sink.getvalue().decode("utf-8"))["params"]["text"])


if __name__ == "__main__":
    unittest.main()
