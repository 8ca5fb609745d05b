#!/usr/bin/env bash
# The main job of claw on its embedded defaults, in a temporary state directory.
# Every step is checked; the first one that is not as it should be ends the demo.
set -euo pipefail
claw=${1:-bin/claw}
claw=$(cd "$(dirname "$claw")" && pwd)/$(basename "$claw")
export CLAW_STATE_DIR CLAW_CONFIG=/dev/null
CLAW_STATE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/claw-demo.XXXXXX")
work=$(mktemp -d "${TMPDIR:-/tmp}/claw-demo-work.XXXXXX")
states=$CLAW_STATE_DIR
cd "$work"
export HOME=$work # what programs keep of their own goes with it
unset CLAW_AGENT CLAW_SESSION CLAW_TURN_ID OPENCLAW_AGENT OPENCLAW_SESSION OPENCLAW_TURN_ID
cleanup() {
	for id in $("$claw" process list --state running --all-agents 2>/dev/null | cut -f1); do
		"$claw" process remove "$id" --all-agents 2>/dev/null || true
	done
	[ -z "${left:-}" ] || kill -9 "$left" 2>/dev/null || true
	for dir in $states; do # a tick that was started for the last end may still be at work
		for _ in $(seq 100); do
			rm -rf "$dir" 2>/dev/null && break
			sleep 0.05
		done
	done
	rm -rf "$work"
}
trap cleanup EXIT

bold=; plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
step() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
exec 2>&1 # one stream, so that words stand where they belong
show() { printf '$ %s\n' "claw $*"; "$claw" "$@"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }
# code CODE command…: runs it and insists on its exit code
code() {
	local want=$1 got=0
	shift
	show "$@" || got=$?
	[ "$got" = "$want" ] || fail "claw $* exited $got, not $want"
}
# until_says WHAT command…: repeats a quiet command until its output contains WHAT
until_says() {
	local what=$1 i
	shift
	for i in $(seq 200); do
		"$@" 2>&1 | grep -qF -- "$what" && return
		sleep 0.05
	done
	fail "$* never said $what"
}

# until_true command…: repeats a command until it succeeds
until_true() {
	local i
	for i in $(seq 200); do
		"$@" && return
		sleep 0.05
	done
	fail "$* never came true"
}

step 'Start something and let go of it: the id alone comes back.'
id=$("$claw" exec -b 'echo compiling; sleep 1; echo built in 1.0s')
printf '$ id=$(claw exec -b …); echo $id\n%s\n' "$id"
show process list
code 0 process wait "$id"
code 0 process log "$id"

step 'A wrapper that lets go after a while: exit 75 is "still running".'
code 75 exec --yield-ms 300 'for i in 1 2 3; do echo step $i; sleep 0.4; done'
code 0 process wait --last

step 'Poll shows only what is new, and its cursor is on disk.'
id=$("$claw" exec -b --stdin open 'echo one; read x; echo "two ($x)"')
code 0 process poll "$id" --timeout 5000
code 0 process write "$id" "$(printf 'typed\n\n')" --eof
"$claw" process wait "$id"
code 0 process poll "$id"

step 'Talk to a program in a terminal.'
if command -v python3 >/dev/null; then
	id=$("$claw" exec -b --pty -- python3 -q)
	until_says '>>>' "$claw" process log "$id"
	code 0 process write "$id" 'print(6*7)'
	code 0 process submit "$id"
	until_says 42 "$claw" process log "$id"
	show process log "$id"
	code 0 process send-keys "$id" C-d
else
	id=$("$claw" exec -b --pty -- sh)
	code 0 process write "$id" 'echo $((6*7))'
	code 0 process submit "$id"
	until_says 42 "$claw" process log "$id"
	show process log "$id"
	code 0 process write "$id" --eof
fi
code 0 process wait "$id"

step 'Stop a whole tree, also what has left its session.'
id=$("$claw" exec -b "setsid sleep 300 & sleep 300 & sleep 300 & echo \$\$ > $work/shell; wait")
until_true test -s "$work/shell"
until_true sh -c "[ \$(pgrep -c -P \$(cat $work/shell)) -ge 2 ]"
pids=$(pgrep -P "$(cat "$work/shell")" | tr '\n' ' ')
code 0 process kill "$id"
code 143 process wait "$id"
for pid in $pids; do ! kill -0 "$pid" 2>/dev/null || fail "$pid is still there"; done
echo "(all of $pids gone)"

step 'kill -9 the supervisor: nothing says "running", and the work goes on.'
id=$("$claw" exec -b "echo before; while :; do echo tick; echo tick >> $work/ticks; sleep 0.1; done")
until_says tick "$claw" process log "$id"
row=$("$claw" process list --json)
left=$(printf '%s' "$row" | tr ',' '\n' | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' | head -1)
ulid=$(printf '%s' "$row" | tr ',{' '\n\n' | sed -n 's/^"id":"\([^"]*\)".*/\1/p' | head -1)
pkill -9 -f "claw supervise $ulid"
code 125 process wait "$id"
show process list
before=$(wc -l < "$work/ticks")
until_true sh -c "[ \$(wc -l < $work/ticks) -gt $((before + 3)) ]"
echo '(the command is still ticking; it can be ended)'
code 0 process kill "$id"
left=

step 'The ledgers: one JSON object a line.'
show tasks list
show event list
printf '$ tail -1 ledgers/tasks.jsonl | cut -c1-100\n'
tail -1 "$CLAW_STATE_DIR/ledgers/tasks.jsonl" | cut -c1-100
code 0 doctor

# What follows has a state of its own, so that its numbers can be told.
CLAW_STATE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/claw-demo.XXXXXX")
states="$states $CLAW_STATE_DIR"
export CLAW_CONFIG=$work/claw.toml
cat > "$CLAW_CONFIG" <<EOF
[agents.main]
command = ["sh", "-c", "date +%s%N > woken; cat > told; echo The background command has finished: first done"]
workdir = "$work"
[agents.main.heartbeat]
every = "30m"
gate = true   # nothing is spent while the checks in heartbeat.d are quiet
EOF
# messages: how many there are in the inbox
messages() { "$claw" inbox --all --peek --json | tr ',{' '\n\n' | grep -c '"id":' || true; }

step 'The end of a command wakes its agent: no runner, no cron.'
cat "$CLAW_CONFIG"
id=$("$claw" exec -b 'sleep 0.5; echo first done; date +%s%N > ended')
until_true test -s woken
late=$((($(cat woken) - $(cat ended)) / 1000000))
printf '(woken %d ms after the end)\n' "$late"
[ "$late" -lt 1000 ] || fail "the agent was woken only after $late ms"
until_says 'has finished' "$claw" inbox --peek
printf '$ cat told   # what the agent read\n'
cat told
grep -qF "Exec completed ($id, code 0) :: first done" told || fail 'the agent was not told the result'

step 'Its answer is delivered once, with a receipt.'
show inbox
show deliveries list
code 0 heartbeat tick
[ "$(messages)" = 1 ] || fail "there are $(messages) messages"

step 'A quiet heartbeat says nothing, sends nothing and starts no agent.'
mkdir heartbeat.d
printf '#!/bin/sh\ntest ! -e %s/full || { echo "/ is 91 %% full"; exit 1; }\n' "$work" > heartbeat.d/disk
chmod +x heartbeat.d/disk
rm told
code 0 heartbeat run
code 0 heartbeat tick
show heartbeat status
[ ! -e told ] || fail 'the agent was started for nothing'
[ "$(messages)" = 1 ] || fail "there are $(messages) messages"

step 'A check that fails alerts once, however often it is asked.'
printf '[agents.main.heartbeat]\nevery = "30m"\n' > "$CLAW_CONFIG" # the embedded agent passes alerts on
touch full
code 0 heartbeat run
code 0 heartbeat run
show inbox
[ "$(messages)" = 2 ] || fail "there are $(messages) messages"
show sessions list
code 0 doctor

# kill_turn: kill -9 of the agent in mid-turn, and of its supervisor
kill_turn() {
	until_true test -s agent.pid
	local agent supervisor
	agent=$(cat agent.pid)
	supervisor=$(ps -o ppid= -p "$agent")
	kill -9 "$supervisor" "$agent"
	rm agent.pid
}

step 'kill -9 the runner, and an agent in mid-turn: the turn is continued once.'
cat > "$CLAW_CONFIG" <<EOF
[agents.main]
command = ["sh", "-c", "cat > told; echo begun >> acts; echo \$\$ > agent.pid; exec sleep 300"]
recover = ["sh", "-c", "cat > told; echo continued >> acts; echo The report is ready."]
workdir = "$work"
EOF
rm -f told
"$claw" runner run 2>/dev/null &
runner=$!
until_says 'at work' "$claw" runner status
code 0 event send --mode now 'please write the report'
until_true test -s agent.pid
disown "$runner"
kill -9 "$runner"
kill_turn
show recover scan
code 0 heartbeat tick
code 0 heartbeat tick
printf '$ cat acts\n'
cat acts
[ "$(tr '\n' ' ' < acts)" = 'begun continued ' ] || fail 'it was not continued once'
until_says 'The report is ready' "$claw" inbox --peek
show inbox
[ "$(messages)" = 3 ] || fail "there are $(messages) messages"
show recover scan

step 'Three attempts that die as well: the session is given up, and says how to begin anew.'
sed -i.old 's/^recover = .*/recover = ["sh", "-c", "cat > told; echo tried >> acts; kill -9 $$"]/' "$CLAW_CONFIG"
"$claw" agent send 'once more' >/dev/null 2>&1 &
sender=$!
until_true test -s agent.pid
disown "$sender" # its death is no news
kill -9 "$sender"
kill_turn
until_says 'cut off' "$claw" recover scan
show recover retry main || true # the attempt dies as well
# The others come by themselves 5 and 10 seconds later; the demo does not wait.
given_up() {
	"$claw" recover retry main >/dev/null 2>&1 || true
	"$claw" recover list --json | grep -q '"state":"tombstoned"'
}
until_true given_up
[ "$(grep -c tried acts)" = 3 ] || fail "$(grep -c tried acts) attempts were made, not 3"
show recover scan
sed -i.old 's/^command = .*/command = ["sh", "-c", "cat > told; echo Here I am."]/' "$CLAW_CONFIG"
code 4 agent send 'are you there?'
code 0 sessions new main
code 0 agent send 'are you there?'
code 0 doctor
printf '\n%sdemo: everything was as it should be%s\n' "$bold" "$plain"
