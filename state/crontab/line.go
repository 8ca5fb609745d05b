package crontab

import "strings"

// Line is an entry as a crontab has it; false when it cannot say so: what runs
// is on one line there, and some runs of backslashes before a % have no
// spelling. expr is as in Entry.Expr, or "@reboot".
func Line(expr, command, stdin string) (string, bool) {
	text := strings.ReplaceAll(command, "%", `\%`)
	if stdin != "" {
		body := strings.ReplaceAll(strings.TrimSuffix(stdin, "\n"), "%", `\%`)
		text += "%" + strings.ReplaceAll(body, "\n", "%")
	}
	gotCommand, gotStdin := input(text)
	if strings.ContainsAny(text, "\r\n\x00") || strings.TrimLeft(command, blanks) != command || command == "" {
		return "", false
	}
	same := gotCommand == command && (gotStdin == stdin || gotStdin == stdin+"\n")
	return expr + " " + text, same
}
