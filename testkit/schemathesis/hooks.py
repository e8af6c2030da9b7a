"""Lets the suite's requests reach what is there: an agent and the node's tenant, which no schema can name."""

import os
import zlib

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Half of the requests that name an agent name the one there is; those of a stranger's tenant are of this one."""
    if case.headers:
        case.headers.pop("X-EdgePlane-Tenant", None)
    body = case.body
    if not isinstance(body, dict):
        return
    ctx = body.get("ctx")
    if isinstance(ctx, dict) and isinstance(ctx.get("tenant"), str):
        ctx["tenant"] = "local"
    # By what is said and not by chance: the same requests each time.
    if isinstance(body.get("agent"), str) and zlib.crc32(body["agent"].encode("utf-8", "replace")) % 2:
        body["agent"] = os.environ["EDGEPLANE_TRIED_AGENT"]
