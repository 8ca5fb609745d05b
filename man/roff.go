package man

import "strings"

// code makes text that can be copied and typed: every character as it is.
func code(s string) string {
	return strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`, "…", "...",
	).Replace(s)
}

// prose makes running text: flags keep their dashes, and nothing in it is
// taken for a request.
func prose(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "~", `\(ti`, "^", `\(ha`, "`", "\\(ga", "…", "...", "—", `\(em`, "×", `\(mu`).Replace(s)
	words := strings.Fields(s)
	for i, w := range words {
		if bare := strings.TrimLeft(w, `("[{`); strings.HasPrefix(bare, "-") && len(bare) > 1 {
			words[i] = strings.ReplaceAll(w, "-", `\-`)
		}
	}
	s = strings.Join(words, " ")
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// sentences begins a line with each sentence, as the manual's sources do, and
// breaks those that are longer than one.
func sentences(s string) string { return sentencesBehind("", s) }

// sentencesBehind begins behind what is roff already.
func sentencesBehind(head, s string) string {
	var b strings.Builder
	b.WriteString(head)
	used := len(head)
	ended := false
	for _, w := range strings.Fields(prose(s)) {
		switch {
		case used == 0, used == len(head) && b.Len() == used:
		case ended && w[0] >= 'A' && w[0] <= 'Z', used+1+len(w) > width:
			b.WriteByte('\n')
			used = 0
			if w[0] == '.' || w[0] == '\'' {
				w = `\&` + w
			}
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(w)
		used += len(w)
		ended = strings.HasSuffix(w, ".")
	}
	b.WriteByte('\n')
	return b.String()
}

// width is how long the lines of a source are.
const width = 79

func paragraph(s string) string {
	if s == "" {
		return ""
	}
	return ".PP\n" + sentences(s)
}

func paragraphs(s string) string {
	var b strings.Builder
	for p := range strings.SplitSeq(s, "\n\n") {
		b.WriteString(paragraph(p))
	}
	return b.String()
}

// tagged is one entry of a list; tag is roff already.
func tagged(tag, text string) string { return ".TP\n" + tag + "\n" + sentences(text) }

// pairs is a list of codes or words with what they mean.
func pairs(rows [][2]string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(tagged(bold(r[0]), r[1]))
	}
	return b.String()
}

// plainPairs is pairs whose first part is a sentence.
func plainPairs(rows [][2]string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(tagged(code(r[0]), r[1]))
	}
	return b.String()
}

// example is lines to type, as they are.
func example(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(".PP\n.EX\n")
	for _, l := range lines {
		l = code(l)
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			l = `\&` + l
		}
		b.WriteString(l + "\n")
	}
	b.WriteString(".EE\n")
	return b.String()
}

func bold(s string) string   { return `\fB` + code(s) + `\fR` }
func italic(s string) string { return `\fI` + code(s) + `\fR` }
