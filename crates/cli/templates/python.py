#!/usr/bin/env python3
"""An agent in Python, without any library: edgeplane_agent.py beside it speaks to the node, `answer` is yours."""

from edgeplane_agent import serve


def answer(text, message):
    """`text` is for a model: header, content, fence. `message` has the parts of it, and who sent it by which proof."""
    words = " ".join(part["text"] for part in message["parts"] if part["type"] == "text")
    return f"{message['source']} ({message['authority']}) said: {words}"


if __name__ == "__main__":
    serve(answer)
