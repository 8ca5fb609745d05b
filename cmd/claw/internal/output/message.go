package output

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Message is one thing somebody was told.
type Message struct {
	New   bool   // not read before
	When  string // "14:02", or a full time for other programs
	Title string // one line
	From  string // what it is about
	Body  string // further lines; may be empty
}

// mark stands before a new message on a terminal, as wide as the blanks before
// an old one.
const mark = "● "

// Messages writes messages one under the other: time, title and, at the right
// edge of a terminal, what it is about; the rest of the text below the title.
// Elsewhere the same without marks and alignment. What others have written is
// made safe.
func (s *Streams) Messages(all []Message) error {
	wide := 0
	for _, m := range all {
		wide = max(wide, runewidth.StringWidth(m.When))
	}
	var b strings.Builder
	for _, m := range all {
		s.message(&b, m, wide)
	}
	_, err := io.WriteString(s.Out, b.String())
	return err
}

func (s *Streams) message(b *strings.Builder, m Message, wide int) {
	lead := ""
	if s.OutTTY {
		lead = strings.Repeat(" ", runewidth.StringWidth(mark))
	}
	margin := lead + strings.Repeat(" ", wide) + gap
	if m.New && s.OutTTY {
		lead = paint(strings.TrimSpace(mark), cyan, s.colored(true)) + " "
	}
	title, from := []string{oneLine(m.Title)}, oneLine(m.From)
	room := 0
	if s.OutTTY {
		room = s.width() - runewidth.StringWidth(margin)
		title = fold(title[0], room-len(gap)-runewidth.StringWidth(from))
	}
	b.WriteString(lead + m.When + strings.Repeat(" ", wide-runewidth.StringWidth(m.When)) + gap + title[0])
	if from != "" {
		between := room - runewidth.StringWidth(title[0]) - runewidth.StringWidth(from)
		b.WriteString(strings.Repeat(" ", max(between, len(gap))) + paint(from, dim, s.colored(s.OutTTY)))
	}
	b.WriteByte('\n')
	for _, line := range title[1:] {
		b.WriteString(margin + line + "\n")
	}
	for line := range strings.Lines(strings.TrimRight(Safe(m.Body), "\n")) {
		b.WriteString(strings.TrimRight(margin+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
}

// foldLeast is the least width that text is folded to; on narrower terminals
// it runs over.
const foldLeast = 20

// fold breaks a line at blanks, so that no piece is wider than most; a word
// that is wider stands alone.
func fold(line string, most int) []string {
	most = max(most, foldLeast)
	var lines []string
	for word := range strings.FieldsSeq(line) {
		last := len(lines) - 1
		if last >= 0 && runewidth.StringWidth(lines[last])+1+runewidth.StringWidth(word) <= most {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	if len(lines) == 0 || runewidth.StringWidth(line) <= most {
		return []string{line}
	}
	return lines
}
