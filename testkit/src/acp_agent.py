"""A small agent that speaks the Agent Client Protocol, for tests: what it does stands in the prompt's last line."""

import json
import os
import socket
import sys
import threading
import time

OPTIONS = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
LOCK = threading.Lock()
WAITING, CANCELLED = {}, threading.Event()
NUMBER = [0]


# Whether lines are kept, to be written as one piece.
HOLDS = [False]


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        if not HOLDS[0]:
            sys.stdout.flush()


def raw(text):
    with LOCK:
        sys.stdout.write(text)
        sys.stdout.flush()


def update(session, what, **fields):
    send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": what, **fields}}})


def say(session, text, kind="agent_message_chunk"):
    update(session, kind, content={"type": "text", "text": text})


def ask(method, params):
    NUMBER[0] += 1
    number = NUMBER[0]
    WAITING[number] = [threading.Event(), None]
    send({"id": number, "method": method, "params": params})
    WAITING[number][0].wait()
    return WAITING.pop(number)[1]


def history(session):
    return os.path.join(os.getcwd(), f"{session}.session")


def note(session, text):
    with open(history(session), "a") as file:
        file.write(json.dumps(text) + "\n")


def past(session):
    try:
        with open(history(session)) as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return None


REMEMBERED = set()
# What the newest prompt said beside its words.
META = [None]


def tool(session, path):
    call = {"toolCallId": f"call-{path}", "title": f"write {path}", "kind": "edit", "status": "pending"}
    update(session, "tool_call", **call)
    kinds = OPTIONS.get("options", "allow_once,reject_once").split(",")
    options = [{"optionId": f"option {kind}", "name": kind, "kind": kind} for kind in kinds]
    if "option allow_always" in REMEMBERED:
        answer = {"result": {"outcome": {"outcome": "selected", "optionId": "option allow_always"}}}
    else:
        answer = ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options})
    outcome = answer.get("result", {}).get("outcome", {})
    chosen = outcome.get("optionId", outcome.get("outcome", "?"))
    allowed = chosen.startswith("option allow")
    REMEMBERED.add(chosen)
    if allowed:
        with open(path, "a") as file:
            file.write("done\n")
    update(session, "tool_call_update", toolCallId=f"call-{path}", status="completed" if allowed else "failed")
    say(session, f"chosen {chosen}")


def terminals(session, steps):
    """Asks one thing after the other of terminals; `T` is the last one that was created."""
    last, answers = None, []
    for method, params in steps:
        params = {"sessionId": session, **params}
        if params.get("terminalId") == "T":
            params["terminalId"] = last
        answer = ask(f"terminal/{method}", params)
        if method == "create" and "result" in answer:
            last = answer["result"]["terminalId"]
        answers.append(answer.get("result", answer.get("error")))
    return answers


def many(session, count):
    """Creates more terminals than there may be, and gives some back."""
    made, errors = [], []
    for _ in range(count):
        answer = ask("terminal/create", {"sessionId": session, "command": "true"})
        (made if "result" in answer else errors).append(answer.get("result", answer.get("error")))
    for terminal in made:
        ask("terminal/wait_for_exit", {"sessionId": session, **terminal})
        ask("terminal/release", {"sessionId": session, **terminal})
    again = ask("terminal/create", {"sessionId": session, "command": "true"})
    return {"made": len(made), "refused": len(errors), "why": errors[0]["message"], "again": "result" in again}


def hold(session, name):
    say(session, "begun")
    while not os.path.exists(name):
        if CANCELLED.is_set():
            return
        time.sleep(0.005)
    say(session, " ended")


def spend(session, what):
    """Uses more and more of something until it is told to stop."""
    used = 0
    while not CANCELLED.is_set():
        used += 1
        if what == "tokens":
            update(session, "usage_update", inputTokens=used * 10, outputTokens=used)
        elif what == "cost":
            update(session, "usage_update", used=53, size=200000, cost={"amount": used / 4, "currency": "USD"})
        else:
            update(session, "tool_call", toolCallId=f"step {used}", title="step", kind="read", status="completed")
        time.sleep(0.005)


def play(session, text):
    """Does what the last line says; gives the reason why the turn ends."""
    verb, _, rest = text.strip().splitlines()[-1].partition(" ")
    if verb == "say":
        for part in rest.split("|"):
            say(session, part)
    elif verb == "think":
        say(session, rest, "agent_thought_chunk")
        say(session, "thought")
    elif verb == "edit":
        change = {"type": "diff", "path": rest, "oldText": "one\ntwo\n", "newText": "one\n2\x1b[2J\n"}
        update(session, "tool_call", toolCallId="edit", title=f"edit {rest}", kind="edit", status="in_progress")
        update(session, "tool_call_update", toolCallId="edit", status="completed", content=[change])
        say(session, "edited")
    elif verb == "flaky":
        say(session, "the second time")
    elif verb == "meta":
        say(session, json.dumps(META[0]))
    elif verb == "hold":
        hold(session, rest)
    elif verb == "tool":
        tool(session, rest)
    elif verb == "flood":
        for number in range(int(rest)):
            say(session, f"{number} ")
    elif verb == "paced":
        count, rate = (int(word) for word in rest.split())
        begin = time.monotonic()
        for number in range(count):
            wait = begin + number / rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            say(session, f"{time.monotonic_ns()} ")
    elif verb == "recall":
        said = past(session) or []
        say(session, "; ".join(said))
    elif verb in ("read", "write"):
        path, _, content = rest.partition(" ")
        path = path if path.startswith("/") else os.path.join(os.getcwd(), path)
        params = {"sessionId": session, "path": path}
        if verb == "write":
            params["content"] = content
        answer = ask(f"fs/{verb}_text_file", params)
        say(session, json.dumps(answer.get("result", answer.get("error"))))
    elif verb == "terminal":
        say(session, json.dumps(terminals(session, json.loads(rest))))
    elif verb == "terminals":
        say(session, json.dumps(many(session, int(rest))))
    elif verb == "plan":
        update(session, "plan", entries=[{"content": rest, "priority": "high", "status": "pending"}])
        say(session, "planned")
    elif verb == "usage":
        update(session, "usage_update", used=53, size=200000, cost={"amount": 0.25, "currency": "USD"})
        say(session, "used")
    elif verb == "spend":
        spend(session, rest)
    elif verb == "large":
        what = {"toolCallId": f"large-{NUMBER[0]}-{time.monotonic_ns()}", "title": "read much", "kind": "read"}
        update(session, "tool_call", **what, status="in_progress")
        content = [{"type": "content", "content": {"type": "text", "text": "x" * int(rest)}}]
        update(session, "tool_call_update", toolCallId=what["toolCallId"], status="completed", content=content)
        say(session, "read")
    elif verb == "call":
        # Whoever has answered over these streams knows that the turn has begun; over the socket nobody might yet.
        ask("fs/read_text_file", {"sessionId": session, "path": os.path.join(os.getcwd(), "nothing")})
        capability, _, given = rest.partition(" ")
        say(session, invoke(capability, json.loads(given)))
    elif verb == "unknown":
        update(session, "something_new", payload=[1, 2.5, None])
        send({"method": "_vendor/notice", "params": {"x": 1}})
        say(session, str(ask("_vendor/ask", {}).get("error", {}).get("code")))
    elif verb == "bad":
        bad(session, rest)
    elif verb == "die":
        os._exit(3)
    note(session, text.strip().splitlines()[-1])
    return "cancelled" if CANCELLED.is_set() else "end_turn"


def invoke(capability, given):
    """Calls a capability over the socket of the epoch, as any client would, and waits for its end."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(os.environ["EDGEPLANE_SOCKET"])
        lines = link.makefile("rw")

        def request(method, params):
            lines.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
            lines.flush()
            return json.loads(lines.readline())

        answer = request("capability/invoke", {"capability": capability, "input": given})
        while answer.get("result", {}).get("status") in ("waiting", "running"):
            named = {"invocation_id": answer["result"]["invocation_id"], "timeout_ms": 30000}
            answer = request("capability/invocation.await", named)
    return answer["result"]["status"] if "result" in answer else answer["error"]["data"]["name"]


def bad(session, what):
    """What a hostile or broken program might say."""
    if what == "garbage":
        for number in range(50):
            raw('{"jsonrpc": "2.0", "id": [1], "method": "x"}\n' + "\x00\xff" * number + "\n{]\n")
    elif what == "offences":
        for number in range(200):
            send({"id": f"nobody-{number}", "result": {}})
    elif what == "huge":
        for _ in range(3):
            raw("x" * (17 << 20) + "\n")
        say(session, "y" * (3 << 20))
    elif what == "strangers":
        say("another session", "not mine")
        send({"id": "edgeplane:prompt:msg_01890000-0000-7000-8000-000000000000", "result": {"stopReason": "end_turn"}})
        send({"id": "edgeplane:initialize", "result": {"protocolVersion": 1}})
        send({"id": "edgeplane:new", "result": {"sessionId": "stolen"}})
        call = {"toolCallId": "1", "title": "steal"}
        ask("session/request_permission", {"sessionId": "another", "toolCall": call,
                                           "options": [{"optionId": "a", "name": "a", "kind": "allow_once"}]})
    elif what == "options":
        call = {"toolCallId": "1", "title": "steal \x1b[2J\u202e"}
        say(session, str(ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": []})))
    elif what == "twice":
        for text in ("tool a", "tool b"):
            threading.Thread(target=play, args=(session, text), daemon=True).start()


def prompt(number, params):
    META[0] = params.get("_meta")
    session = params["sessionId"]
    with open("prompts", "a") as file:
        file.write(json.dumps([block.get("text") for block in params["prompt"]]) + "\n")
    text = params["prompt"][-1]["text"]
    first, _, mark = text.strip().splitlines()[-1].partition(" ")
    flaky = first == "flaky" and not os.path.exists(f"tried-{mark}")
    if flaky:
        open(f"tried-{mark}", "w").close()
    if flaky or text.strip().endswith("fail"):
        return send({"id": number, "error": {"code": -32603, "message": "Internal error",
                                             "data": {"details": "the model is overloaded"}}})
    reason = play(session, text)
    usage = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12}
    send({"id": number, "result": {"stopReason": reason, "usage": usage}})
    if OPTIONS.get("late"):
        say(session, "late words")


def opened(session):
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
    models = {"currentModelId": "small", "availableModels": [{"modelId": "small", "name": "S"}, {"modelId": "large", "name": "L"}]}
    return {"sessionId": session, "modes": modes, "models": models}


def request(message):
    method, number, params = message["method"], message.get("id"), message.get("params") or {}
    if method == "initialize":
        if OPTIONS.get("silent"):
            return
        with open("client", "w") as file:
            json.dump(params.get("clientCapabilities", {}), file)
        capabilities = {"loadSession": OPTIONS.get("load", "yes") == "yes"}
        if OPTIONS.get("resume"):
            capabilities["sessionCapabilities"] = {"resume": {}}
        if OPTIONS.get("close"):
            capabilities.setdefault("sessionCapabilities", {})["close"] = {}
        send({"id": number, "result": {"protocolVersion": int(OPTIONS.get("version", "1")),
                                       "agentCapabilities": capabilities,
                                       "agentInfo": {"name": "fake-agent", "version": "1.2.3"},
                                       "authMethods": [{"id": "key", "name": "Key"}]}})
    elif method == "authenticate":
        OPTIONS["login"] = ""
        send({"id": number, "result": {}})
    elif method == "session/new":
        with open("servers", "w") as file:
            json.dump(params["mcpServers"], file)
        if OPTIONS.get("login"):
            return send({"id": number, "error": {"code": -32000, "message": "Authentication required"}})
        if OPTIONS.get("broken") and not os.path.exists("mended"):
            open("mended", "w").close()
            return send({"id": number, "error": {"code": -32603, "message": "no network"}})
        session = f"s-{os.getpid()}"
        note(session, "begin")
        send({"id": number, "result": opened(session)})
    elif method in ("session/load", "session/resume"):
        said = past(params["sessionId"])
        if said is None or OPTIONS.get("forgets"):
            return send({"id": number, "error": {"code": -32002, "message": "Resource not found"}})
        result = opened(params["sessionId"])
        del result["sessionId"]
        if OPTIONS.get("repeats"):
            # In one piece with the answer: what comes after the next prompt could be anything.
            HOLDS[0] = True
            send({"id": number, "result": result})
        if method == "session/load":
            for text in said:
                say(params["sessionId"], text, "user_message_chunk")
                say(params["sessionId"], "said before")
        if OPTIONS.get("repeats"):
            HOLDS[0] = False
            sys.stdout.flush()
        else:
            send({"id": number, "result": result})
    elif method in ("session/set_mode", "session/set_model"):
        with open("settings", "a") as file:
            file.write(json.dumps(params) + "\n")
        send({"id": number, "result": {}})
    elif method == "session/prompt":
        CANCELLED.clear()
        threading.Thread(target=prompt, args=(number, params), daemon=True).start()
    elif method == "session/close":
        with open("closes", "a") as file:
            file.write(params["sessionId"] + "\n")
        send({"id": number, "result": {}})
    elif method == "session/cancel":
        with open("cancels", "a") as file:
            file.write("cancel\n")
        if not OPTIONS.get("deaf"):
            CANCELLED.set()
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message:
        request(message)
    elif message.get("id") in WAITING:
        WAITING[message["id"]][1] = message
        WAITING[message["id"]][0].set()
