"""A server of the Model Context Protocol with one tool that costs next to nothing: what is left is the way to it."""
import json
import sys

CAPABILITIES = {"tools": {}}
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        server = {"name": "bench", "version": "1"}
        answer["result"] = {
            "protocolVersion": params["protocolVersion"], "capabilities": CAPABILITIES, "serverInfo": server}
    elif method == "tools/list":
        answer["result"] = {"tools": [TOOL]}
    elif method == "tools/call":
        text = params["arguments"]["text"]
        answer["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
