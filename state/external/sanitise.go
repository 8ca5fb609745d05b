package external

import "strings"

// What stands for what was taken out.
const (
	StartSanitised = "[[MARKER_SANITIZED]]"
	EndSanitised   = "[[END_MARKER_SANITIZED]]"
	TokenRemoved   = "[REMOVED_SPECIAL_TOKEN]"
)

// maxID is how many characters of an id a marker may have.
const maxID = 128

// Sanitise takes out of a text what could pass for one of the markers of Wrap,
// however it is dressed up, and the control tokens of models. Doing it again
// changes nothing. Everything else stays as it is, byte for byte, but for bytes
// that are no UTF-8.
func Sanitise(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for {
		found := find(fold(text))
		if len(found) == 0 {
			return text
		}
		text = replaced(text, found)
	}
}

// hit is a place in the text that must not stay.
type hit struct {
	start, end int32
	by         string
}

// replaced is the text with other words in these places, which are in order.
func replaced(text string, found []hit) string {
	var b strings.Builder
	last := int32(0)
	for _, h := range found {
		b.WriteString(text[last:h.start])
		b.WriteString(h.by)
		last = h.end
	}
	b.WriteString(text[last:])
	return b.String()
}

// find looks for markers and control tokens.
func find(f []letter) []hit {
	var found []hit
	for i := 0; i < len(f); {
		switch f[i].c {
		case '<':
			run := i
			h, next := marker(f, i, &run)
			if next == 0 {
				h, next = control(f, i)
			}
			if next == 0 && run > i+1 { // each of the brackets may begin a token
				for j := i + 1; j < run && next == 0; j++ {
					if f[j].c == '<' {
						h, next = control(f, j)
					}
				}
				if next == 0 {
					i = run
					continue
				}
			}
			if next > 0 {
				found, i = append(found, h), next
				continue
			}
		case '[':
			if h, next := control(f, i); next > 0 {
				found, i = append(found, h), next
				continue
			}
		}
		i++
	}
	return found
}

// marker reads a marker at f[i], which is '<'. Its brackets may be more than
// three and have space between them, and what closes it may be missing: a
// reader would believe it. *run is the end of the brackets that begin it; next
// is 0 when it is none.
func marker(f []letter, i int, run *int) (h hit, next int) {
	at, n := brackets(f, i, '<')
	if *run = at; n < 3 {
		return h, 0
	}
	by := StartSanitised
	if past, ok := word(f, at, "/"); ok {
		at = past
	}
	if past, ok := word(f, at, "end"); ok {
		at, by = past, EndSanitised
	}
	for _, w := range [...]string{"external", "untrusted", "content"} {
		past, ok := word(f, at, w)
		if !ok {
			return h, 0
		}
		at = past
	}
	end := at
	if past, ok := idOf(f, at); ok {
		at, end = past, past
	}
	if past, n := brackets(f, blanks(f, at), '>'); n > 0 {
		end = past
	}
	return hit{f[i].start, f[end-1].end, by}, end
}

// brackets is the end of a run of brackets with space between them, and how
// many they are.
func brackets(f []letter, i int, c byte) (end, n int) {
	end = i
	for ; i < len(f) && (f[i].c == c || f[i].c == ' '); i++ {
		if f[i].c == c {
			n, end = n+int(f[i].n), i+1
		}
	}
	return end, n
}

// blanks is where the separators at f[i] end.
func blanks(f []letter, i int) int {
	for i < len(f) && (f[i].c == ' ' || f[i].c == '_' || f[i].c == '-') {
		i++
	}
	return i
}

// word reads a word, with separators before and between its letters.
func word(f []letter, i int, w string) (end int, ok bool) {
	i = blanks(f, i)
	for _, c := range []byte(w) {
		if i = blanks(f, i); i >= len(f) || f[i].c != folded(c) {
			return i, false
		}
		i++
	}
	return i, true
}

// folded is a letter of a word as fold has it.
func folded(c byte) byte {
	if c == 'i' {
		return 'l'
	}
	return c
}

// idOf reads id="…".
func idOf(f []letter, i int) (end int, ok bool) {
	if i, ok = word(f, i, "id"); !ok {
		return i, false
	}
	if i = blanks(f, i); i >= len(f) || f[i].c != '=' {
		return i, false
	}
	if i = blanks(f, i+1); i >= len(f) || f[i].c != '"' {
		return i, false
	}
	for j := i + 1; j < len(f) && j-i <= maxID+1; j++ {
		if f[j].c == '"' {
			return j + 1, true
		}
	}
	return i, false
}

// tokens are the control tokens of models that do not look like <|…|>, folded:
// Llama and Mistral, Gemma, and what many others have.
var tokens = [...]string{
	"[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>", "<start_of_turn>", "<end_of_turn>",
	"[system_prompt]", "[/system_prompt]", "[available_tools]", "[/available_tools]", "[tool_calls]", "[tool_results]", "[/tool_results]",
	"[tool_content]", "[args]", "[call_id]", "[prefix]", "[suffix]", "[middle]", "[img]", "[img_break]", "[img_end]",
}

// maxToken is how many characters <|…|> may have inside.
const maxToken = 64

// control reads a control token at f[i].
func control(f []letter, i int) (h hit, next int) {
	if f[i].c == '<' && i+1 < len(f) && f[i+1].c == '|' {
		for j := i + 2; j < len(f) && j < i+2+maxToken; j++ {
			switch c := f[j].c; {
			case c == '|' && j+1 < len(f) && f[j+1].c == '>' && j > i+2:
				return hit{f[i].start, f[j+1].end, TokenRemoved}, j + 2
			case c == '<' || c == '>' || c == '|':
				return h, 0
			}
		}
		return h, 0
	}
	for _, t := range tokens {
		if end, ok := literal(f, i, t); ok {
			return hit{f[i].start, f[end-1].end, TokenRemoved}, end
		}
	}
	return h, 0
}

// literal reads exactly these characters.
func literal(f []letter, i int, s string) (end int, ok bool) {
	for k := 0; k < len(s); {
		if i >= len(f) || f[i].c != folded(s[k]) {
			return i, false
		}
		k += max(1, int(f[i].n))
		i++
	}
	return i, true
}
