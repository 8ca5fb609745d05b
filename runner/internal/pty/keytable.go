package pty

const esc = 0x1b

// cursorSeq is how a cursor or editing key is encoded: a key with a letter
// depends on the cursor mode, a key with a tilde number uses that number in
// normal mode and with modifiers.
type cursorSeq struct {
	letter byte
	tilde  int
}

// cursorKey looks up a cursor or editing key by its lower-case name.
func cursorKey(name string) (cursorSeq, bool) {
	switch name {
	case "up":
		return cursorSeq{letter: 'A'}, true
	case "down":
		return cursorSeq{letter: 'B'}, true
	case "right":
		return cursorSeq{letter: 'C'}, true
	case "left":
		return cursorSeq{letter: 'D'}, true
	case "home":
		return cursorSeq{letter: 'H', tilde: 1}, true
	case "end":
		return cursorSeq{letter: 'F', tilde: 4}, true
	case "insert", "ic":
		return cursorSeq{tilde: 2}, true
	case "delete", "del", "dc":
		return cursorSeq{tilde: 3}, true
	case "pageup", "pgup", "ppage":
		return cursorSeq{tilde: 5}, true
	case "pagedown", "pgdn", "npage":
		return cursorSeq{tilde: 6}, true
	}
	return cursorSeq{}, false
}

// plainKey looks up any other named key by its lower-case name.
func plainKey(name string) (string, bool) {
	switch name {
	case "enter", "return":
		return "\r", true
	case "tab":
		return "\t", true
	case "esc", "escape":
		return "\x1b", true
	case "space":
		return " ", true
	case "bspace", "backspace":
		return "\x7f", true
	case "btab":
		return "\x1b[Z", true
	}
	if seq, ok := functionKey(name); ok {
		return seq, true
	}
	return keypadKey(name)
}

func functionKey(name string) (string, bool) {
	switch name {
	case "f1":
		return "\x1bOP", true
	case "f2":
		return "\x1bOQ", true
	case "f3":
		return "\x1bOR", true
	case "f4":
		return "\x1bOS", true
	case "f5":
		return "\x1b[15~", true
	case "f6":
		return "\x1b[17~", true
	case "f7":
		return "\x1b[18~", true
	case "f8":
		return "\x1b[19~", true
	case "f9":
		return "\x1b[20~", true
	case "f10":
		return "\x1b[21~", true
	case "f11":
		return "\x1b[23~", true
	case "f12":
		return "\x1b[24~", true
	}
	return "", false
}

func keypadKey(name string) (string, bool) {
	if len(name) == 3 && name[:2] == "kp" && '0' <= name[2] && name[2] <= '9' {
		return "\x1bO" + string('p'+name[2]-'0'), true
	}
	switch name {
	case "kp/":
		return "\x1bOo", true
	case "kp*":
		return "\x1bOj", true
	case "kp-":
		return "\x1bOm", true
	case "kp+":
		return "\x1bOk", true
	case "kp.":
		return "\x1bOn", true
	case "kpenter":
		return "\x1bOM", true
	}
	return "", false
}
