"""A terminal program for tests: a transcript, a composer in a frame, a line below it that says what it is doing.

Usage: fake_tui.py CONTROL LOG [OPTIONS]. It follows the words in the file CONTROL (idle, busy, dialog, quota, error, deaf,
swallow, glyph, blind, draft, lies, restless) and appends to LOG, as lines of JSON, what was submitted and what was answered to its dialog.

It has hooks as programs made for people have: commands by event in the file of `--settings`, or one that `-c notify=`
names. It goes on with the session of `--resume` or `resume`, but with none of the name `lost`. What stands in the file
CONTROL.run is run as its tools would be, and LOG says how that ended.
"""
import json, os, select, subprocess, sys, termios, time, tty

CONTROL, LOG = sys.argv[1], sys.argv[2]
GIVEN = sys.argv[3:]
WIDTH = 60
LINE = "\u2500" * WIDTH


def log(**what):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps(what, ensure_ascii=False) + "\n")


def control():
    try:
        with open(CONTROL, encoding="utf-8") as text:
            return text.read().strip() or "idle"
    except FileNotFoundError:
        return "idle"


def given(*names):
    for index, word in enumerate(GIVEN[:-1]):
        if word in names:
            yield GIVEN[index + 1]


def run(argv, text, shell=False):
    began = time.monotonic()
    done = subprocess.run(argv, input=text, capture_output=True, shell=shell)
    out, err = done.stdout.decode(), done.stderr.decode()
    log(ran=argv, code=done.returncode, out=out, err=err, ms=int((time.monotonic() - began) * 1000))


class Hooks:
    def __init__(self):
        self.by_event, self.notify, self.prompts, self.all = {}, None, [], []
        for path in given("--settings"):
            with open(path, encoding="utf-8") as text:
                self.by_event = json.load(text).get("hooks", {})
        for word in given("-c"):
            if word.startswith("notify="):
                self.notify = json.loads(word[len("notify=") :])
        self.session = next(given("--resume", "resume"), "session-%d" % os.getpid())

    def tell(self, event, **more):
        report = {"session_id": self.session, "hook_event_name": event, "cwd": os.getcwd(), **more}
        for group in self.by_event.get(event, []):
            for hook in group["hooks"]:
                run(hook["command"], json.dumps(report).encode(), shell=True)

    def asked(self, prompt):
        self.prompts.append(prompt)
        self.all.append(prompt)
        self.tell("UserPromptSubmit", prompt=prompt)

    def ended(self, answer):
        self.tell("Stop", stop_hook_active=False, last_assistant_message=answer)
        if self.notify:
            report = {"type": "agent-turn-complete", "thread-id": self.session, "turn-id": "1"}
            report |= {"input-messages": self.all, "last-assistant-message": answer}
            run([*self.notify, json.dumps(report)], b"")
        self.prompts = []


class Tui:
    def __init__(self):
        self.hooks = Hooks()
        self.mode, self.text, self.transcript, self.pasting = "idle", "", ["fake tui 1.0"], None
        self.blinded, self.word = False, "idle"

    def draw(self):
        rows = self.transcript[-6:] + [""]
        if self.mode == "dialog":
            rows += ["Allow this?", "  1. Yes", "  2. No"]
            cursor = len(rows) - 1, 2
        else:
            lines = self.text.split("\n")
            if len(lines) > 10:
                lines = [f"[pasted {len(lines)} lines]"]
            shown = []
            for line in lines:
                # A character of two columns counts as two.
                piece, used = "", 0
                for letter in line:
                    wide = 2 if ord(letter) >= 0x1100 else 1
                    if used + wide > WIDTH - 4:
                        shown.append(piece)
                        piece, used = "", 0
                    piece, used = piece + letter, used + wide
                shown.append(piece)
            rows.append(LINE)
            first = len(rows)
            rows += [("> " if i == 0 else "  ") + line for i, line in enumerate(shown)]
            cursor = first + len(shown) - 1, 2
            rows.append(LINE)
            below = {"busy": "working (esc to stop)", "quota": "quota used up", "glyph": "r\u00e9ady"}
            below["error"] = "failed: the model is gone"
            rows.append("  " + below.get("glyph" if self.blinded else self.mode, "ready"))
        out = "\x1b[H\x1b[2J" + "\r\n".join(rows) + f"\x1b[{cursor[0] + 1};{cursor[1] + 1}H"
        os.write(1, out.encode())

    def enter(self):
        if self.mode == "deaf":
            return
        text, self.text = self.text, ""
        log(submitted=text)
        # Nobody can read what it shows from now on.
        self.blinded = self.mode == "blind"
        if self.mode == "swallow":
            return
        self.hooks.asked(text + (" and a lie" if self.mode == "lies" else ""))
        self.transcript += text.split("\n")[-3:]
        if self.mode != "busy":
            self.hooks.ended("heard " + text.split("\n")[-1])

    def take(self, data):
        while data:
            if self.pasting is not None:
                end = data.find("\x1b[201~")
                if end < 0:
                    self.pasting += data
                    return
                self.text += (self.pasting + data[:end]).replace("\r", "\n")
                self.pasting, data = None, data[end + 6 :]
            elif data.startswith("\x1b[200~"):
                self.pasting, data = "", data[6:]
            else:
                key, data = data[0], data[1:]
                if self.mode == "dialog":
                    log(dialog=key)
                elif key == "\r":
                    self.enter()
                elif key == "\x15":
                    self.text = ""
                elif key == "\x1b":
                    log(interrupted=True)
                    with open(CONTROL, "w", encoding="utf-8") as out:
                        out.write("idle")
                elif key >= " ":
                    self.text += key

    def follow(self, word):
        if self.mode == "busy" and self.hooks.prompts:
            self.hooks.ended("done")
        # Busy, and drawn anew all the time.
        self.mode, self.blinded, self.word = "busy" if word == "restless" else word, False, word
        with open(CONTROL + ".followed", "w", encoding="utf-8") as out:
            out.write(word)
        if word == "dialog":
            self.hooks.tell("PermissionRequest", tool_name="Bash", tool_input={"command": "rm x"})
        if word == "draft":
            self.text = "half a tho"

    def run(self):
        log(argv=GIVEN)
        if self.hooks.session == "lost":
            sys.exit("no such session")
        way = "resume" if any(given("--resume", "resume")) else "startup"
        self.hooks.tell("SessionStart", source=way)
        tty.setraw(0)
        os.write(1, b"\x1b[?2004h")
        rest = b""
        self.follow(control())
        self.draw()
        while True:
            is_restless = self.word == "restless"
            ready, _, _ = select.select([0], [], [], 0.01 if is_restless else 0.05)
            word = control()
            changed = word != self.word or is_restless
            if word != self.word:
                self.follow(word)
            if os.path.exists(CONTROL + ".run"):
                with open(CONTROL + ".run", encoding="utf-8") as text:
                    command = text.read()
                os.remove(CONTROL + ".run")
                run(command, b"", shell=True)
            if ready:
                rest += os.read(0, 65536)
                try:
                    data, rest = rest.decode(), b""
                except UnicodeDecodeError as cut:
                    data, rest = rest[: cut.start].decode(), rest[cut.start :]
                self.take(data)
                changed = True
            if changed:
                self.draw()


Tui().run()
