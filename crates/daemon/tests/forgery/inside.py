"""Speaks for a test from where it runs.

`inside.py serve FOLDER NAME` listens at FOLDER/NAME.sock. The first line of each connection says what is wanted:
`{"say": TEXT}` writes to standard output, `{"run": ARGV, "env": VARIABLES}` runs a program and answers what it said,
and everything else is a way to a socket, whose bytes are passed on from there. What stands on standard input goes to
FOLDER/NAME.log, and it ends with it.
"""

import json
import os
import select
import socket
import subprocess
import sys
import threading


def passed_on(near, far):
    while True:
        ready, _, _ = select.select([near, far], [], [])
        for side in ready:
            data = side.recv(1 << 16)
            if not data:
                return
            try:
                (far if side is near else near).sendall(data)
            except OSError:
                # The node may have said why before it closed.
                while rest := far.recv(1 << 16):
                    near.sendall(rest)
                return


def speak(near, way):
    if way.get("orphan"):
        for _ in range(2):
            if os.fork():
                os._exit(0)
            os.setsid()
    if way.get("move"):
        with open(way["move"], "w") as procs:
            procs.write(str(os.getpid()))
    far = socket.socket(socket.AF_UNIX)
    far.connect(way["to"])
    passed_on(near, far)


def environment(asked):
    if asked.get("env") is None:
        return dict(os.environ)
    return {name: value for name, value in asked["env"].items()}


def start(connection, way):
    way.setdefault("to", os.environ.get("EDGEPLANE_SOCKET"))
    argv = [sys.executable, os.path.abspath(__file__), "speak", str(connection.fileno()), json.dumps(way)]
    program = argv[0]
    if way.get("through"):
        argv = way["through"] + argv
        program = argv[0]
    if way.get("name"):
        argv = [way["name"]] + argv[1:]
    if way.get("below"):
        argv = way["below"] + argv
        program = "/bin/sh"
    subprocess.Popen(
        argv,
        executable=program,
        env=environment(way),
        pass_fds=[connection.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=sys.argv[2],
    )


def answer(connection, value):
    connection.sendall((json.dumps(value) + "\n").encode())


def first_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            return None
        line += byte
    return json.loads(line)


def serve(listener):
    while True:
        connection, _ = listener.accept()
        wanted = first_line(connection)
        if wanted is None:
            continue
        if "say" in wanted:
            sys.stdout.write(wanted["say"])
            sys.stdout.flush()
            answer(connection, {})
        elif "run" in wanted:
            done = subprocess.run(
                wanted["run"], env=environment(wanted), stdin=subprocess.DEVNULL, capture_output=True
            )
            said = {"out": done.stdout.decode(), "err": done.stderr.decode()}
            answer(connection, {"code": done.returncode, **said})
        else:
            start(connection, wanted)
        connection.close()


if sys.argv[1] == "speak":
    speak(socket.socket(fileno=int(sys.argv[2])), json.loads(sys.argv[3]))
else:
    home, name = sys.argv[2:4]
    place = socket.socket(socket.AF_UNIX)
    place.bind(f"{home}/{name}.new")
    place.listen(16)
    os.rename(f"{home}/{name}.new", f"{home}/{name}.sock")
    threading.Thread(target=serve, args=[place], daemon=True).start()
    with open(f"{home}/{name}.log", "ab", buffering=0) as log:
        for line in sys.stdin.buffer:
            log.write(line)
