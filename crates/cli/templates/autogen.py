#!/usr/bin/env python3
"""An AutoGen agent: edgeplane_agent.py beside it speaks to the node, `answer` is yours."""

from edgeplane_agent import serve  # first: what the others print while they load is no part of the protocol

import asyncio
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

client = OpenAIChatCompletionClient(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
assistant = AssistantAgent("assistant", model_client=client)
loop = asyncio.new_event_loop()


def answer(text, message):
    # The assistant remembers what was said as long as the program lives.
    result = loop.run_until_complete(assistant.run(task=text))
    return result.messages[-1].to_text()


if __name__ == "__main__":
    serve(answer)
