#!/bin/sh
# mbox.sh FILE: hands each mail of an mbox to the agent main, in its order. The file is left as it is; what an mbox quotes (">From ") is undone.
set -e
box=${1:?usage: mbox.sh FILE}
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
LC_ALL=C awk -v parts="$parts" '
	/^From / && (NR == 1 || blank) { if (part) close(part); part = sprintf("%s/%06d", parts, ++n) }
	{ blank = $0 == "" || $0 == "\r" }
	/^>+From / { sub(/^>/, "") }
	part { print >part }' "$box"
for mail in "$parts"/*; do
	[ -f "$mail" ] || continue
	claw hook dispatch --agent main --session-key hook:mail --source email --queue --idempotency-key message-id <"$mail" >/dev/null || exit 75
done
