#!/bin/sh
# maildir.sh DIR: hands each new mail of a maildir to the agent main and marks it as seen. For cron, or `claw automations add` with a watch on DIR/new.
#
# A mail that could not be handed over stays new, and does not hold up those behind it. Its file name is its key: a loop that dies before it has
# marked one does not have it seen to twice, if it comes again within hooks.idempotencyWindow.
dir=${1:?usage: maildir.sh DIR}
status=0
for mail in "$dir"/new/*; do
	name=${mail##*/}
	[ -f "$mail" ] || continue
	claw hook dispatch --agent main --session-key hook:mail --source email --queue --idempotency-key "$name" <"$mail" >/dev/null || {
		status=75
		continue
	}
	mv "$mail" "$dir/cur/${name%%:2,*}:2,S"
done
exit $status
