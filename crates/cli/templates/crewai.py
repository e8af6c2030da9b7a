#!/usr/bin/env python3
"""A CrewAI crew as an agent: edgeplane_agent.py beside it speaks to the node, `answer` is yours."""

from edgeplane_agent import serve  # first: what the others print while they load is no part of the protocol

from crewai import Agent, Crew, Task

helper = Agent(role="Helper", goal="Answer what is asked", backstory="You answer briefly and to the point.")
task = Task(description="{message}", expected_output="An answer in plain text", agent=helper)
crew = Crew(agents=[helper], tasks=[task])


def answer(text, message):
    return crew.kickoff(inputs={"message": text}).raw


if __name__ == "__main__":
    serve(answer)
