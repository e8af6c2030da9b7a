#!/usr/bin/env bash
# Builds EdgePlane and shows it at work on a node of its own, which is thrown away afterwards.
#
# Leaves the node running until Ctrl-C. With DEMO_ONCE=1 it ends by itself, with a non-zero code if any step failed.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

readonly root=$PWD
readonly bin=$CARGO_TARGET_DIR/release
readonly agents=(alpha beta shell)
readonly note='The crane is out of order until Friday.'
# How long anything may take that normally takes a fraction of a second.
readonly patience=30

work='' up='' sleeper='' title='preparation' number=0 node_began=0

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' dim='' plain=''
fi

heading() {
  number=$((number + 1))
  title=$1
  printf '\n%s%d. %s%s\n' "$bold" "$number" "$title" "$plain"
}

indent() {
  sed 's/^/   /'
}

# fail MESSAGE: names the step, shows what the daemon said last, ends the demo.
fail() {
  trap - ERR
  printf '\ndemo: step %d, "%s", failed: %s\n' "$number" "$title" "$1" >&2
  if [ -n "$up" ]; then
    echo "demo: the end of the daemon's log:" >&2
    ep daemon logs 2>&1 | tail -n 20 | indent >&2 || true
  fi
  exit 1
}

ep() {
  "$bin/edgeplane" "$@"
}

# show ARGUMENT...: runs a command of edgeplane as a person would, and shows both.
show() {
  printf '   %s$ edgeplane %s%s\n' "$dim" "$(quoted "$@")" "$plain"
  ep "$@" | indent || fail "\`edgeplane $1\` ended with an error"
}

quoted() {
  local word space=''
  for word in "$@"; do
    case $word in
      *[\"\$\`]*) word="'$word'" ;;
      *[!A-Za-z0-9_./=-]*) word="\"$word\"" ;;
    esac
    printf '%s%s' "$space" "$word"
    space=' '
  done
}

# json PATH: one value of the JSON on standard input, such as `status.process.pid`.
json() {
  python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[int(key)] if isinstance(value, list) else value[key]
print(value)' "$1"
}

# field AGENT PATH
field() {
  ep agent get "$1" -o json | json "$2"
}

# answer MESSAGE_ID: what an agent said at the end of the turn, found in its log on standard input.
answer() {
  python3 -c '
import json, sys
for line in sys.stdin:
    at = line.find("{\"jsonrpc\"")
    try:
        said = json.loads(line[at:]) if at >= 0 else {}
    except ValueError:
        continue
    params = said.get("params", {})
    if said.get("method") == "agent/turn.complete" and params.get("message_id") == sys.argv[1]:
        print(params["output"])
        sys.exit(0)
sys.exit(1)' "$1"
}

# tell AGENT TEXT: signals, waits for the end of the turn, shows the answer and leaves it in $said.
tell() {
  local receipt message rung
  printf '   %s$ edgeplane signal %s --wait turn-ended%s\n' "$dim" "$(quoted "$1" --content "$2")" "$plain"
  receipt=$(ep signal "$1" --content "$2" --wait turn-ended --timeout "${patience}s" -o json) ||
    fail "the signal to $1 failed"
  message=$(json message_id <<<"$receipt") || fail "the signal to $1 gave no message_id: $receipt"
  rung=$(json receipts.-1.rung <<<"$receipt") || fail "the signal to $1 gave no receipts: $receipt"
  [ "$rung" = turn_ended ] || fail "message $message to $1 came only as far as \`$rung\`"
  said=$(ep logs "$1" | answer "$message") || fail "the log of $1 holds no answer to $message"
  indent <<<"$said"
}

# expect TEXT PIECE
expect() {
  case $1 in
    *"$2"*) ;;
    *) fail "\"$2\" was expected in: $1" ;;
  esac
}

# within SECONDS COMMAND...: tries until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

daemon_pid() {
  ep daemon status -o json 2>/dev/null | json pid 2>/dev/null
}

# Whether another daemon than the one of this pid answers.
is_succeeded() {
  local now
  now=$(daemon_pid) && [ "$now" != "$1" ]
}

# Whether an agent runs in this epoch.
runs_in_epoch() {
  local view
  view=$(ep agent get "$1" -o json 2>/dev/null) || return 1
  [ "$(json status.phase <<<"$view") $(json status.epoch <<<"$view")" = "running $2" ]
}

shows_answer() {
  ep snapshot shell 2>/dev/null | grep >/dev/null '^six times seven is 42'
}

# kill_own PID PROGRAM: kills a process at once, but only if it is this program.
kill_own() {
  local program
  program=$(readlink "/proc/$1/exe") || fail "process $1 is not there"
  [ "${program##*/}" = "$2" ] || fail "process $1 is $program and not $2"
  printf '   %s$ kill -9 %s%s   # %s\n' "$dim" "$1" "$plain" "$2"
  kill -9 "$1" || fail "process $1 cannot be killed"
}

# Every process id of the node's agents: programs and shims.
agent_pids() {
  ep agent list -o json | python3 -c '
import json, sys
for agent in json.load(sys.stdin)["items"]:
    process = agent["status"]["identities"]["process"]
    for one in (agent["status"].get("process"), process.get("process"), process.get("shim")):
        if one:
            print(one["pid"])' | sort -un
}

are_gone() {
  local pid
  for pid in "$@"; do
    [ ! -e "/proc/$pid" ] || return 1
  done
}

# Ends what this demo began, and nothing else.
tear_down() {
  local status=$? pids=() agent
  trap - EXIT ERR INT TERM
  set +e
  [ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null
  if [ -n "$up" ]; then
    printf '\nTearing down.\n'
    daemon_pid >/dev/null || ep daemon up >/dev/null 2>&1
    mapfile -t pids < <(agent_pids 2>/dev/null)
    for agent in "${agents[@]}"; do
      ep delete "$agent" >/dev/null 2>&1
    done
    if ! within "$patience" are_gone "${pids[@]}"; then
      echo "demo: of the agents' processes ${pids[*]} some are still there; $work is kept" >&2
      work='' status=1
    fi
    if ! ep daemon down >/dev/null; then
      echo "demo: the daemon could not be ended; $work is kept" >&2
      work='' status=1
    fi
  fi
  [ -z "$work" ] || rm -rf "$work"
  exit "$status"
}

# The example's manifests with the programs of this build, whatever PATH the daemon has.
write_manifests() {
  python3 -c '
import json, sys
source, target, python_agent, rust_agent = sys.argv[1:]
text = open(source, encoding="utf-8").read()
for old, new in (("agents/python/notes_agent.py", python_agent), ("edgeplane-notes-agent", rust_agent)):
    old = f"command: [{json.dumps(old)}]"
    if old not in text:
        sys.exit(f"{source} has no line `{old}`")
    text = text.replace(old, f"command: [{json.dumps(new)}]")
open(target, "w", encoding="utf-8").write(text)' \
    examples/notes.yaml "$work/notes.yaml" "$root/examples/agents/python/notes_agent.py" "$bin/edgeplane-notes-agent"
}

build() {
  heading 'Build'
  scripts/setup.sh || fail 'something is missing on this machine'
  cargo build --release --bins -p edgeplane-cli -p edgeplane-daemon -p edgeplane-shim -p edgeplane-exec -p edgeplane-notes-agent ||
    fail 'cargo build ended with an error'
}

start_node() {
  heading 'A node of its own'
  # Short, because the names of sockets are; and of this demo alone, so that no other node is touched.
  work=$(mktemp -d /tmp/edgeplane-demo.XXXXXX)
  export EDGEPLANE_STATE_DIR=$work/state EDGEPLANE_RUNTIME_DIR=$work/run
  unset EDGEPLANE_SOCKET EDGEPLANE_SHIM EDGEPLANED
  export PATH=$bin:$PATH
  up=1
  node_began=$SECONDS
  show daemon up
  local state
  state=$(ep daemon status -o json | json stateDir) || fail 'the daemon does not say where its record is'
  [ "$state" -ef "$EDGEPLANE_STATE_DIR" ] || fail "the daemon that answers keeps its record in $state"
}

declare_agents() {
  heading 'Two notes agents, in Python and in Rust, and a shell'
  write_manifests || fail 'the manifests could not be written'
  show apply -f "$work/notes.yaml"
  show apply -f examples/shell.yaml
  local agent
  for agent in "${agents[@]}"; do
    ep agent wait "$agent" --phase running --timeout "${patience}s" >/dev/null || fail "agent $agent does not run"
  done
  show agent list
}

talk() {
  heading 'Messages by name'
  tell beta "/remember harbour $note"
  expect "$said" 'Remembered harbour'
  tell alpha '/remember shift Ada has the night watch.'
  expect "$said" 'Remembered shift'
  tell alpha 'Run /briefing'
  expect "$said" 'Ada has the night watch.'
  expect "$said" 'beta: running'

  heading 'One agent asks the other'
  tell alpha '/ask beta /recall harbour'
  expect "$said" "$note"

  heading 'Where its time went: both agents in one trace, read from the record'
  show trace --agent alpha
  local verdict
  verdict=$(ep trace --agent alpha -o json | json explanation.verdict) || fail 'there is no trace of that'
  [ "$verdict" = healthy ] || echo "   This machine is busy: the verdict is $verdict."
}

use_shell() {
  heading 'A message into a shell: its header is a comment there'
  # shellcheck disable=SC2016 # the shell agent shall compute it, not this one
  show signal shell --content 'echo "six times seven is $((6 * 7))"'
  within "$patience" shows_answer || fail 'the screen of the shell does not show the answer'
  show snapshot shell
}

# Prints agent, pid and epoch in columns.
process_table() {
  local agent pid epoch
  for agent in "${agents[@]}"; do
    pid=$(field "$agent" status.process.pid) || return 1
    epoch=$(field "$agent" status.epoch) || return 1
    printf '%-8s %8s %7s\n' "$agent" "$pid" "$epoch"
  done
}

kill_daemon() {
  heading 'The daemon dies; its agents do not notice'
  local before after daemon agent
  before=$(process_table) || fail 'the agents have no processes'
  daemon=$(daemon_pid) || fail 'the daemon does not answer'
  kill_own "$daemon" edgeplaned
  if ! within 10 is_succeeded "$daemon"; then
    echo '   Nobody restarted it within 10 s, so it is started by hand.'
    show daemon up
  fi
  for agent in "${agents[@]}"; do
    ep agent wait "$agent" --phase running --timeout "${patience}s" >/dev/null || fail "$agent was not adopted"
  done
  after=$(process_table) || fail 'the agents have no processes'
  printf '   daemon before: %s, now: %s\n' "$daemon" "$(daemon_pid)"
  {
    printf '%-8s %8s %7s   %8s %7s\n' agent before epoch now epoch
    paste <(printf '%s\n' "$before") <(awk '{ printf "%8s %7s\n", $2, $3 }' <<<"$after") | tr '\t' ' ' |
      sed 's/^\(.\{25\}\) */\1   /'
  } | indent
  [ "$before" = "$after" ] || fail 'the processes are not the same'
  tell alpha '/recall shift'
  expect "$said" 'Ada has the night watch.'
}

kill_agent() {
  heading 'An agent dies; its next epoch remembers'
  local epoch pid
  epoch=$(field beta status.epoch) || fail 'beta has no epoch'
  pid=$(field beta status.process.pid) || fail 'beta has no process'
  kill_own "$pid" edgeplane-notes-agent
  within "$patience" runs_in_epoch beta "$((epoch + 1))" || fail "beta does not run in epoch $((epoch + 1))"
  printf '   beta was %s in epoch %s and is %s in epoch %s.\n' \
    "$pid" "$epoch" "$(field beta status.process.pid)" "$(field beta status.epoch)"
  tell alpha '/ask beta /recall harbour'
  expect "$said" "$note"
}

verify() {
  heading 'All of it is in the record, and the record holds'
  local result
  show audit verify
  result=$(ep audit verify -o json) || fail 'the record does not hold'
  [ "$(json ok <<<"$result")" = True ] || fail "the record does not hold: $result"
}

closing() {
  printf '\n%sDone in %d s, of which the node took %d s.%s Next, try:\n' \
    "$bold" "$SECONDS" "$((SECONDS - node_began))" "$plain"
  cat <<END
   1. edgeplane attach shell --control    # use the shell; the screen and the history stay when you detach
   2. edgeplane events -f                 # and in another terminal: edgeplane signal alpha --content "Run /briefing"
   3. edgeplane agent describe beta       # its seven identities; then: edgeplane agent history beta
END
}

stay() {
  cat <<END

In another terminal, first:
   export EDGEPLANE_STATE_DIR=$EDGEPLANE_STATE_DIR EDGEPLANE_RUNTIME_DIR=$EDGEPLANE_RUNTIME_DIR
   export PATH=$bin:\$PATH

The node runs until you press Ctrl-C here.
END
  trap 'exit 0' INT TERM
  sleep infinity &
  sleeper=$!
  wait "$sleeper"
}

trap tear_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'fail "a command in line $LINENO ended with code $?"' ERR

build
start_node
declare_agents
talk
use_shell
kill_daemon
kill_agent
verify
closing
[ "${DEMO_ONCE:-}" = 1 ] || stay
