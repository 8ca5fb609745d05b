package heartbeat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The quiet tokens, case-sensitive (spec/exec-process.md 5.1). TokenNoReply is
// the newer name of the same thing; as {"action":"NO_REPLY"} it counts as a
// whole reply only.
const (
	TokenOK      = "HEARTBEAT_OK"
	TokenNoReply = "NO_REPLY"
)

// DefaultAckMaxChars is how many characters beside a token still are small
// talk, when nothing is configured.
const DefaultAckMaxChars = 300

// maxTail is how many characters that are no letters may follow a token at the
// end of a text (spec/heartbeat-automations.md 1.8).
const maxTail = 4

// Mode says what Strip does with a short remainder.
type Mode int

// In a heartbeat a token with at most ackMaxChars characters beside it is an
// acknowledgement; in a message only a token alone is one.
const (
	ModeHeartbeat Mode = iota
	ModeMessage
)

// Stripped is a reply without its quiet tokens.
type Stripped struct {
	Skip     bool   // there is nothing to say
	DidStrip bool   // a token was there and was taken off
	Text     string // what is left, on one line if DidStrip; empty if Skip
	Rest     string // what is left with its lines, also of a Skip for its shortness
}

// Strip takes quiet tokens off both ends of a reply, as often as they are
// there (spec/exec-process.md 5.3, spec/heartbeat-automations.md 1.8). A
// negative ackMaxChars is as good as 0. In the middle of a text a token means nothing.
//
// Unlike the seeds' (design.md 7), a token is a word: HEARTBEAT_OKAY and
// HEARTBEAT_OK.log have none. Markup and punctuation around it go with it, so
// that nothing but these beside a token is nothing to say.
func Strip(raw string, mode Mode, ackMaxChars int) Stripped {
	text := strings.TrimSpace(raw)
	switch {
	case text == "":
		return Stripped{Skip: true}
	case isEnvelope(text):
		return Stripped{Skip: true, DidStrip: true}
	case !strings.Contains(text, TokenOK) && !strings.Contains(text, TokenNoReply):
		return Stripped{Text: text, Rest: text}
	}
	rest, did := stripEdges(text)
	if !did {
		// Tags, and markup around all of it, hide a token at the edge.
		rest, did = stripEdges(unmarked(text))
	}
	switch {
	case !did:
		return Stripped{Text: text, Rest: text}
	case isHollow(unmarked(rest)):
		return Stripped{Skip: true, DidStrip: true}
	}
	line := strings.Join(strings.Fields(rest), " ")
	if mode == ModeHeartbeat && utf8.RuneCountInString(line) <= ackMaxChars {
		return Stripped{Skip: true, DidStrip: true, Rest: rest}
	}
	return Stripped{DidStrip: true, Text: line, Rest: rest}
}

// IsAck tells a reply that says nothing, or a token and at most ackMaxChars
// characters. An empty one says nothing.
func IsAck(text string, ackMaxChars int) bool { return Strip(text, ModeHeartbeat, ackMaxChars).Skip }

// PureAck tells a reply of nothing but tokens, markup and punctuation, or of
// nothing at all.
func PureAck(text string) bool { return IsAck(text, 0) }

// Silenced tells a reply whose last line is notify=false, and returns what
// stands before it: for the transcript, not for a person.
func Silenced(text string) (rest string, ok bool) {
	text = strings.TrimSpace(text)
	head, last := "", text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		head, last = text[:i], text[i+1:]
	}
	if strings.TrimFunc(last, isDecoration) != "notify=false" {
		return text, false
	}
	return strings.TrimSpace(head), true
}

// isEnvelope tells {"action":"NO_REPLY"}, however it is spaced.
func isEnvelope(text string) bool {
	return strings.Join(strings.Fields(text), "") == `{"action":"`+TokenNoReply+`"}`
}

func stripEdges(text string) (rest string, did bool) {
	for {
		text = strings.TrimSpace(text)
		after, ok := stripStart(text)
		if !ok {
			after, ok = stripEnd(text)
		}
		if !ok {
			return text, did
		}
		text, did = after, true
	}
}

// stripStart takes a token off the start, with what decorates it. Emphasis,
// quotes and brackets that are opened before it must be closed behind it.
func stripStart(text string) (rest string, ok bool) {
	body := strings.TrimLeftFunc(text, isDecoration)
	tail, ok := cutToken(body)
	if !ok {
		return text, false
	}
	lead := text[:len(text)-len(body)]
	rest = strings.TrimLeftFunc(tail, func(r rune) bool { return isDecoration(r) && !unicode.IsSpace(r) })
	if strings.ContainsFunc(lead, isWrapper) && len(rest) == len(tail) && !isHollow(rest) {
		return text, false
	}
	return rest, true
}

// cutToken takes a token that is a word off the start.
func cutToken(text string) (tail string, ok bool) {
	for _, token := range [...]string{TokenOK, TokenNoReply} {
		if tail, ok := strings.CutPrefix(text, token); ok && endsWord(tail) {
			return tail, true
		}
	}
	return text, false
}

// endsWord tells that what precedes tail is a word of its own: no letter
// follows, not even behind a sign that joins words, as in a file's name.
func endsWord(tail string) bool {
	tail = strings.TrimLeft(tail, "_") // emphasis, or part of the word that then follows
	r, n := utf8.DecodeRuneInString(tail)
	if n > 0 && strings.ContainsRune(".-/@\\='’", r) {
		r, n = utf8.DecodeRuneInString(tail[n:])
	}
	return n == 0 || !isWord(r)
}

// startsWord is the same for what precedes a token. A full stop ends a
// sentence there, and what follows = or : at once is a value.
func startsWord(head string) bool {
	head = strings.TrimRight(head, "_\"'")
	r, n := utf8.DecodeLastRuneInString(head)
	if r == '=' || r == ':' {
		return false
	}
	if n > 0 && strings.ContainsRune("-/@\\", r) {
		r, n = utf8.DecodeLastRuneInString(head[:len(head)-n])
	}
	return n == 0 || !isWord(r)
}

// stripEnd takes a token off the end. Up to four signs may follow it; they
// stay with the text before, except those that close what was opened for the
// token alone.
func stripEnd(text string) (rest string, ok bool) {
	head, tail, ok := lastToken(text)
	if !ok || !startsWord(head) {
		return text, false
	}
	for {
		l, n := utf8.DecodeLastRuneInString(head)
		r, m := utf8.DecodeRuneInString(tail)
		if n == 0 || m == 0 || !closes(l, r) {
			break
		}
		head, tail = head[:len(head)-n], tail[m:]
	}
	if utf8.RuneCountInString(tail) > maxTail || strings.ContainsFunc(tail, isWord) {
		return text, false
	}
	if isHollow(head) {
		return tail, true
	}
	return joinTail(strings.TrimRightFunc(head, unicode.IsSpace), tail), true
}

// joinTail puts what followed a token behind what preceded it. A sentence that
// has its full stop gets no second one.
func joinTail(head, tail string) string {
	last, _ := utf8.DecodeLastRuneInString(head)
	if tail == "." && strings.ContainsRune(".!?…:", last) {
		return head
	}
	return head + tail
}

// lastToken cuts around the token that is last in text.
func lastToken(text string) (head, tail string, ok bool) {
	at, end := -1, 0
	for _, token := range [...]string{TokenOK, TokenNoReply} {
		if i := strings.LastIndex(text, token); i > at {
			at, end = i, i+len(token)
		}
	}
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[end:], true
}

// isWord tells what words are made of, in any script.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) && r != '\ufe0f'
}

// isMarkup tells a sign of emphasis or of code.
func isMarkup(r rune) bool { return r == '*' || r == '`' || r == '~' || r == '_' }

// isDecoration tells what says nothing by itself: white space, markup,
// punctuation, and characters that are not seen. An & may begin &nbsp;.
func isDecoration(r rune) bool {
	return r != '&' && (unicode.IsSpace(r) || isMarkup(r) || unicode.IsPunct(r) || r == '>' || unicode.Is(unicode.Cf, r))
}

// isWrapper tells a sign that comes in pairs.
func isWrapper(r rune) bool {
	return isMarkup(r) || unicode.In(r, unicode.Ps, unicode.Pi) || r == '"' || r == '\''
}

// closes tells that r ends what l began.
func closes(l, r rune) bool {
	if isMarkup(l) || l == '"' || l == '\'' {
		return l == r
	}
	const begin, end = "([{<“‘«", ")]}>”’»" // each as many bytes as its other half
	i := strings.IndexRune(begin, l)
	return i >= 0 && strings.IndexRune(end, r) == i
}

// isHollow tells a text of decoration alone.
func isHollow(text string) bool { return strings.TrimFunc(text, isDecoration) == "" }

// unmarked is text without tags, and without markup at its ends.
func unmarked(text string) string {
	text = strings.ReplaceAll(untagged(text), "&nbsp;", " ")
	return strings.TrimFunc(text, func(r rune) bool { return isMarkup(r) || unicode.IsSpace(r) })
}

// untagged has a space for every <b>, </code> or <!-- -->. A lone < is text.
func untagged(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			break
		}
		n := tagLength(text[i:])
		b.WriteString(text[:i])
		if n == 0 {
			b.WriteByte('<')
			n = 1
		} else {
			b.WriteByte(' ')
		}
		text = text[i+n:]
	}
	b.WriteString(text)
	return b.String()
}

// tagLength is how long the tag at the start of s is; 0 if there is none.
func tagLength(s string) int {
	end := strings.IndexByte(s, '>')
	if end < 2 {
		return 0
	}
	if c := strings.TrimPrefix(s[1:end], "/"); c == "" || !(c[0] == '!' || c[0] >= 'a' && c[0] <= 'z' || c[0] >= 'A' && c[0] <= 'Z') {
		return 0
	}
	return end + 1
}
