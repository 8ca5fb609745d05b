package session

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ContextChars is how much of a conversation an agent with
// context = "transcript" is shown, in characters.
const ContextChars = 100_000

const (
	contextOpening = "The conversation so far:\n\n"
	contextEnding  = "\n\nThe new message:\n\n"
)

// Context is the conversation as plain text, for an agent that does not
// remember it; the new message follows at once. It is "" when nothing has been
// said yet. Quiet wakes are filtered out, calls of tools without a result and
// results without a call are left out. It has at most limitChars characters:
// the newest is kept, and how much was left out is said; less than 200 is too
// little for anything.
func Context(entries []Entry, f Filter, limitChars int) string {
	blocks := blocksOf(f.Artifacts(entries))
	room := limitChars - len(contextOpening) - len(contextEnding)
	if len(blocks) == 0 || limitChars < 200 {
		return ""
	}
	kept, left := newest(blocks, room)
	if left > 0 {
		kept = append([]string{leftOut(left)}, kept...)
	}
	return contextOpening + strings.Join(kept, "\n\n") + contextEnding
}

func leftOut(n int) string {
	if n == 1 {
		return "[1 earlier message is left out]"
	}
	return "[" + strconv.Itoa(n) + " earlier messages are left out]"
}

// newest are the last blocks that have room, and how many are left out. Of the
// very last, the end is kept where it has no room as a whole.
func newest(blocks []string, room int) (kept []string, left int) {
	sizes, total := make([]int, len(blocks)), -len("\n\n")
	for i, b := range blocks {
		sizes[i] = utf8.RuneCountInString(b) + len("\n\n")
		total += sizes[i]
	}
	from := 0
	for from < len(blocks)-1 && total > spared(room, from) {
		total -= sizes[from]
		from++
	}
	kept = blocks[from:]
	if most := spared(room, from); total > most {
		kept = []string{shortened(kept[0], most)}
	}
	return kept, from
}

// spared is the room next to the note about n blocks that are left out.
func spared(room, n int) int {
	if n == 0 {
		return room
	}
	return room - len(leftOut(n)) - len("\n\n")
}

// shortened keeps the first line of a block, which says who speaks, and the end.
func shortened(block string, limit int) string {
	const mark = "\n[…]\n"
	who, text, _ := strings.Cut(block, "\n")
	room := limit - utf8.RuneCountInString(who) - utf8.RuneCountInString(mark)
	for i := len(text); ; room-- {
		if room <= 0 || i == 0 {
			return who + mark + text[i:]
		}
		_, w := utf8.DecodeLastRuneInString(text[:i])
		i -= w
	}
}

// blocksOf are the messages that have something to say, each under the name of
// who said it.
func blocksOf(entries []Entry) []string {
	var blocks []string
	for i, e := range entries {
		text, _ := MessageText(e.Message)
		who := ""
		switch {
		case e.Message.Role == RoleUser:
			who = "User:"
		case e.Message.Role == RoleAssistant:
			who = "Assistant:"
		case isResult(e.Message) && called(e.Message.ToolCallID, entries[:i]):
			who = "Tool " + strings.Join(strings.Fields(e.Message.ToolName), " ") + ":"
		}
		if text = strings.TrimSpace(text); who != "" && text != "" {
			blocks = append(blocks, who+"\n"+quoteSpeakers(text))
		}
	}
	return blocks
}

// called tells that a call with this id is among entries.
func called(id string, entries []Entry) bool {
	for _, e := range entries {
		for _, b := range e.Message.Content {
			if id != "" && isCall(b) && b.ID == id && e.Message.Role == RoleAssistant {
				return true
			}
		}
	}
	return false
}

// quoteSpeakers keeps a line of text from passing for the beginning of what
// somebody else said.
func quoteSpeakers(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		first, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch strings.ToLower(strings.TrimSpace(first)) {
		case "user", "assistant", "the new message", "the conversation so far":
			lines[i] = "> " + line
		}
	}
	return strings.Join(lines, "\n")
}
