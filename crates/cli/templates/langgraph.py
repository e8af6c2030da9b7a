#!/usr/bin/env python3
"""A LangGraph graph as an agent: edgeplane_agent.py beside it speaks to the node, `answer` is yours."""

from edgeplane_agent import serve  # first: what the others print while they load is no part of the protocol

import os

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

chat = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))


def model(state):
    return {"messages": [chat.invoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node("model", model)
builder.add_edge(START, "model")
builder.add_edge("model", END)
# A checkpointer on disk remembers through restarts; this one remembers as long as the program lives.
graph = builder.compile(checkpointer=InMemorySaver())


def answer(text, message):
    thread = {"configurable": {"thread_id": message.get("thread") or "main"}}
    state = graph.invoke({"messages": [{"role": "user", "content": text}]}, thread)
    return state["messages"][-1].content


if __name__ == "__main__":
    serve(answer)
