"""EdgePlane's native driver in one function. Needs nothing but Python 3.9, so copying this file is enough.

    from edgeplane_agent import serve
    serve(lambda text, message: "heard: " + text)
"""

import json
import os
import sys

# Standard output belongs to the protocol. What libraries print there, also while they are imported or from C, goes to
# the agent's log instead; so import this module before them.
_node = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def serve(answer):
    """Calls `answer(text, message)` for each message until the node asks to finish; what it returns ends the turn.

    `text` is what a model should see: the node's header line, the content, and before the first message the contract
    and what was before. `message` has the fields by which to decide: `channel`, `source`, `authority`, `parts`.
    """
    first = []

    def say(**line):
        print(json.dumps({"jsonrpc": "2.0", **line}), file=_node, flush=True)

    for raw in sys.stdin:
        line = json.loads(raw)
        method, params = line.get("method"), line.get("params") or {}
        if method == "agent/session.start":
            first = [params[part] for part in ("notice", "rehydration") if params.get(part)]
        elif method == "agent/message.deliver":
            own = {"message_id": params["message_id"]}
            say(method="agent/message.observe", params=own)
            try:
                output = str(answer("\n\n".join([*first, params["text"]]), params))
                first = []
            except Exception as error:  # one turn that fails is no reason to lose all the others
                say(method="agent/item.report", params={"kind": "error", "text": repr(error), **own})
                output = ""
            say(method="agent/turn.complete", params={"output": output, **own})
        elif method == "agent/session.stop":
            break
        elif method and "id" in line:  # a ping, or something newer: any answer shows that it listens
            say(id=line["id"], result={})
