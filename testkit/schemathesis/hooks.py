"""Lets the suite's requests reach what is there: an agent, its conversation and the node's tenant, which no schema names."""

import json
import os
import zlib

import schemathesis

THERE_IS = json.loads(os.environ["EDGEPLANE_TRIED"])

# After these the agent is gone, and requests that name it would reach nothing any more.
ENDS = ("/runtime/agent.retire", "/runtime/retirement.perform")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Half of the requests that name something name what there is; those of a stranger's tenant are of this one."""
    if case.headers:
        case.headers.pop("X-EdgePlane-Tenant", None)
    body = case.body
    if not isinstance(body, dict):
        return
    ctx = body.get("ctx")
    if isinstance(ctx, dict) and isinstance(ctx.get("tenant"), str):
        ctx["tenant"] = "local"
    for field, there_is in THERE_IS.items():
        # By what is said and not by chance: the same requests each time.
        if isinstance(body.get(field), str) and zlib.crc32(body[field].encode("utf-8", "replace")) % 2:
            body[field] = there_is
    if body.get("agent") == THERE_IS["agent"] and case.path.endswith(ENDS):
        body["agent"] = THERE_IS["spare"]
