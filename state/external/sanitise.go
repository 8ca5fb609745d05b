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
	for { // the second round finds nothing; that this is so is tested
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

// find looks for markers and control tokens, in one go over the text: what
// stands around something that is taken out is judged by what will be there
// instead. So a token in a token costs no round of its own, of which there could
// be as many as there are characters.
func find(f []letter) []hit {
	var s search
	brackets := 0 // where the run of brackets ends that has begun no marker
	for i := 0; i < len(f); {
		var h hit
		next := 0
		switch c := f[i].c; {
		case c == '<' && i >= brackets:
			if h, next = marker(f, i, &brackets); next == 0 {
				h, next = literal(f, i)
			}
		case c == '<' || c == '[':
			h, next = literal(f, i)
		}
		switch {
		case next > 0:
			s.take(h)
			i = next
		case two(f, i, '<', '|'):
			s.open = append(s.open, opened{f[i].start, s.at, len(s.found)})
			s.at += 2
			i += 2
		case two(f, i, '|', '>') && s.close(f[i+1].end):
			i += 2
		default:
			if c := f[i].c; c == '<' || c == '>' || c == '|' {
				s.open = s.open[:0] // no token that is open has this in it
			}
			s.at++
			i++
		}
	}
	return s.found
}

// search is what find has found so far.
type search struct {
	found []hit
	at    int      // how many characters there will be up to here
	open  []opened // each <| that may become a token, the outermost first
}

// opened is a <|.
type opened struct {
	start int32 // in the text
	at    int   // as search.at
	found int   // how many hits there were
}

// take notes what is to be replaced. What it is replaced by is ASCII.
func (s *search) take(h hit) {
	s.found = append(s.found, h)
	s.at += len(h.by)
}

// close ends the innermost <|. False: it is no token, nor is any around it.
func (s *search) close(end int32) bool {
	n := len(s.open) - 1
	if n < 0 {
		return false
	}
	o := s.open[n]
	if inside := s.at - o.at - 2; inside < 1 || inside > maxToken {
		return false
	}
	s.open, s.found, s.at = s.open[:n], s.found[:o.found], o.at
	s.take(hit{o.start, end, TokenRemoved})
	return true
}

// two tells that these two characters come next.
func two(f []letter, i int, a, b byte) bool {
	return i+1 < len(f) && f[i].c == a && f[i+1].c == b
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

// brackets is the end of a run of brackets with space, or what Markdown puts in
// front of them, between them, and how many they are.
func brackets(f []letter, i int, c byte) (end, n int) {
	end = i
	for ; i < len(f) && (f[i].c == c || f[i].c == ' ' || f[i].c == '\\'); i++ {
		if f[i].c == c {
			n, end = n+int(f[i].n), i+1
		}
	}
	return end, n
}

// blanks is where the separators at f[i] end: a reader sees words in whatever
// stands between them.
func blanks(f []letter, i int) int {
	for i < len(f) && strings.IndexByte(" _-.*~`\\/:!", f[i].c) >= 0 {
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
	"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>",
}

// maxToken is how many characters <|…|> may have inside.
const maxToken = 64

// literal reads one of tokens at f[i].
func literal(f []letter, i int) (h hit, next int) {
	for _, t := range tokens {
		if end, ok := exactly(f, i, t); ok {
			return hit{f[i].start, f[end-1].end, TokenRemoved}, end
		}
	}
	return h, 0
}

// exactly reads these characters.
func exactly(f []letter, i int, s string) (end int, ok bool) {
	for k := 0; k < len(s); {
		if i >= len(f) || f[i].c != folded(s[k]) {
			return i, false
		}
		k += max(1, int(f[i].n))
		i++
	}
	return i, true
}
