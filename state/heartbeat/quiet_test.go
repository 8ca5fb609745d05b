package heartbeat_test

import (
	"strings"
	"testing"
	"unicode"

	"claw/state/heartbeat"
)

// a300 is 300 characters of text, the length that still is small talk.
var a300 = strings.Repeat("A", 300)

// The table of spec/exec-process.md 5.3, row by row: a skip is "", everything
// else the text that is kept. Where claw differs from what the seeds do, the
// comment says what they give and why claw does not: design.md 7, "word
// boundary required, markup and punctuation around it ignored".
var rows = []struct {
	row        string
	in         string
	hb300, hb0 string
	message    string
}{
	{"1 empty", "", "", "", ""},
	{"1 spaces", " \n\t ", "", "", ""},
	{"2", "HEARTBEAT_OK", "", "", ""},
	{"3", "HEARTBEAT_OK.", "", "", ""},        // seeds keep "." without the length rule: a full stop says nothing
	{"4 !!!", "HEARTBEAT_OK!!!", "", "", ""},  // seeds keep "!!!"
	{"4 ---", "HEARTBEAT_OK ---", "", "", ""}, // seeds keep "---"
	{"5", "HEARTBEAT_OK 🦞", "", "🦞", "🦞"},     // as the seeds: a picture is no punctuation, it may be the message
	{"6", "🦞 HEARTBEAT_OK", "", "🦞", "🦞"},
	{"7", "**HEARTBEAT_OK**", "", "", ""}, // seeds keep "****"
	{"8", "`HEARTBEAT_OK`", "", "", ""},   // seeds keep two backticks
	{"9", "_HEARTBEAT_OK_", "", "", ""},
	{"10", "<b>HEARTBEAT_OK</b>", "", "", ""},
	{"11", "&nbsp;HEARTBEAT_OK&nbsp;", "", "", ""},
	{"12", "<code>HEARTBEAT_OK</code> all good", "", "all good", "all good"},
	{"13", "HEARTBEAT_OK hello", "", "hello", "hello"},
	{"14", "hello HEARTBEAT_OK", "", "hello", "hello"},
	{"15", "hello HEARTBEAT_OK there", "hello HEARTBEAT_OK there", "hello HEARTBEAT_OK there", "hello HEARTBEAT_OK there"},
	{"16", "Status HEARTBEAT_OK due to watchdog failure", "Status HEARTBEAT_OK due to watchdog failure", "Status HEARTBEAT_OK due to watchdog failure", "Status HEARTBEAT_OK due to watchdog failure"},
	{"17", "ALERT HEARTBEAT_OK", "", "ALERT", "ALERT"},
	{"18", "You have 3 unread urgent emails. HEARTBEAT_OK", "", "You have 3 unread urgent emails.", "You have 3 unread urgent emails."},
	{"19", a300 + " HEARTBEAT_OK", "", a300, a300},
	{"20", a300 + "A HEARTBEAT_OK", a300 + "A", a300 + "A", a300 + "A"},
	{"21", "I should not respond HEARTBEAT_OK.", "", "I should not respond.", "I should not respond."},
	{"22", "All clear. HEARTBEAT_OK", "", "All clear.", "All clear."},
	{"23", "HEARTBEAT_OK\n\nHEARTBEAT_OK", "", "", ""},
	{"24", "HEARTBEAT_OK a HEARTBEAT_OK b", "", "a HEARTBEAT_OK b", "a HEARTBEAT_OK b"},
	{"25", "HEARTBEAT_OKAY", "HEARTBEAT_OKAY", "HEARTBEAT_OKAY", "HEARTBEAT_OKAY"}, // seeds keep "AY" or nothing: an alert is lost
	{"26", "heartbeat_ok", "heartbeat_ok", "heartbeat_ok", "heartbeat_ok"},
	{"27", "line1\nline2\nHEARTBEAT_OK", "", "line1 line2", "line1 line2"},
	{"28", "*HEARTBEAT_OK* done", "", "done", "done"}, // seeds keep "* done"
	{"29", "NO_REPLY", "", "", ""},                    // seeds keep it here and have a second rule that drops it: one rule is enough
	{"30", "~~HEARTBEAT_OK~~", "", "", ""},            // seeds keep "~~~~"
}

// More of the same rules.
var more = []struct {
	row        string
	in         string
	hb300, hb0 string
	message    string
}{
	{"the envelope as a whole", "{\"action\": \"NO_REPLY\"}", "", "", ""},
	{"the envelope beside a text is a text", "ok {\"action\":\"NO_REPLY\"}", "ok {\"action\":\"NO_REPLY\"}", "ok {\"action\":\"NO_REPLY\"}", "ok {\"action\":\"NO_REPLY\"}"},
	{"both tokens", "NO_REPLY HEARTBEAT_OK", "", "", ""},
	{"NO_REPLY at the end", "Nothing new. NO_REPLY", "", "Nothing new.", "Nothing new."},
	{"a word before it", "xHEARTBEAT_OK", "xHEARTBEAT_OK", "xHEARTBEAT_OK", "xHEARTBEAT_OK"},
	{"a longer name", "NO_REPLY_2 arrived", "NO_REPLY_2 arrived", "NO_REPLY_2 arrived", "NO_REPLY_2 arrived"},
	{"a letter of another script", "HEARTBEAT_OKé", "HEARTBEAT_OKé", "HEARTBEAT_OKé", "HEARTBEAT_OKé"},
	{"a file's name", "HEARTBEAT_OK.log is missing", "HEARTBEAT_OK.log is missing", "HEARTBEAT_OK.log is missing", "HEARTBEAT_OK.log is missing"},
	{"an address", "NO_REPLY@example.com bounced", "NO_REPLY@example.com bounced", "NO_REPLY@example.com bounced", "NO_REPLY@example.com bounced"},
	{"a path", "disk full at /srv/HEARTBEAT_OK", "disk full at /srv/HEARTBEAT_OK", "disk full at /srv/HEARTBEAT_OK", "disk full at /srv/HEARTBEAT_OK"},
	{"its genitive", "HEARTBEAT_OK's probe fails", "HEARTBEAT_OK's probe fails", "HEARTBEAT_OK's probe fails", "HEARTBEAT_OK's probe fails"},
	{"four signs behind it stay", "All good HEARTBEAT_OK!!!!", "", "All good!!!!", "All good!!!!"},
	{"five are too many", "All good HEARTBEAT_OK!!!!!", "All good HEARTBEAT_OK!!!!!", "All good HEARTBEAT_OK!!!!!", "All good HEARTBEAT_OK!!!!!"},
	{"words behind it in another script", "disk HEARTBEAT_OK 火事", "disk HEARTBEAT_OK 火事", "disk HEARTBEAT_OK 火事", "disk HEARTBEAT_OK 火事"},
	{"emphasis of the token alone", "All good **HEARTBEAT_OK**.", "", "All good.", "All good."},
	{"emphasis of everything stays whole", "**All good HEARTBEAT_OK**", "", "**All good**", "**All good**"},
	{"emphasis of everything, token first", "**HEARTBEAT_OK all good**", "", "all good", "all good"},
	{"no second full stop", "All clear. HEARTBEAT_OK.", "", "All clear.", "All clear."},
	{"quoted", "\"HEARTBEAT_OK\"", "", "", ""},
	{"in brackets before a text", "(HEARTBEAT_OK) all good", "", "all good", "all good"},
	{"as an item of a list", "- HEARTBEAT_OK", "", "", ""},
	{"a colon behind it", "HEARTBEAT_OK: nothing new", "", "nothing new", "nothing new"},
	{"a dash without spaces", "HEARTBEAT_OK—nothing new", "", "nothing new", "nothing new"},
	{"a sign that belongs to the text stays", "HEARTBEAT_OK -5 degrees", "", "-5 degrees", "-5 degrees"},
	{"a blank behind it that nobody sees", "HEARTBEAT_OK\u200b", "", "", ""},
	{"an entity behind it", "HEARTBEAT_OK&nbsp;", "", "", ""},
	{"a break behind it", "HEARTBEAT_OK<br/>", "", "", ""},
	{"a lone < is text", "load < 3 HEARTBEAT_OK", "", "load < 3", "load < 3"},
	{"punctuation without a token", "---", "---", "---", "---"},
	{"no token, trimmed", "  Disk is full\n", "Disk is full", "Disk is full", "Disk is full"},
}

func TestStrip(t *testing.T) {
	for _, r := range append(rows, more...) {
		t.Run(r.row, func(t *testing.T) {
			for _, c := range []struct {
				how  string
				got  heartbeat.Stripped
				want string
			}{
				{"heartbeat 300", heartbeat.Strip(r.in, heartbeat.ModeHeartbeat, 300), r.hb300},
				{"heartbeat 0", heartbeat.Strip(r.in, heartbeat.ModeHeartbeat, 0), r.hb0},
				{"heartbeat -1 is 0", heartbeat.Strip(r.in, heartbeat.ModeHeartbeat, -1), r.hb0},
				{"message", heartbeat.Strip(r.in, heartbeat.ModeMessage, 300), r.message},
			} {
				if c.got.Text != c.want || c.got.Skip != (c.want == "") {
					t.Errorf("%s: %+v, want text %q", c.how, c.got, c.want)
				}
			}
		})
	}
}

func TestStripSaysWhetherThereWasAToken(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, "HEARTBEAT_OK": true, "hello": false, "HEARTBEAT_OKAY": false, "hello HEARTBEAT_OK there": false,
		`{"action":"NO_REPLY"}`: true, "<b>NO_REPLY</b>": true,
	} {
		if got := heartbeat.Strip(in, heartbeat.ModeMessage, 0); got.DidStrip != want {
			t.Errorf("%q: DidStrip is %t", in, got.DidStrip)
		}
	}
}

// What is sent to a person keeps its lines; the length that decides is that of
// one line.
func TestStripKeepsLinesForPeople(t *testing.T) {
	got := heartbeat.Strip("Disk 91%\n\n- /var\n- /home\nHEARTBEAT_OK", heartbeat.ModeHeartbeat, 0)
	if got.Rest != "Disk 91%\n\n- /var\n- /home" {
		t.Errorf("%q", got.Rest)
	}
	if wide := "a" + strings.Repeat(" ", 400) + "b HEARTBEAT_OK"; !heartbeat.IsAck(wide, 3) || heartbeat.IsAck(wide, 2) {
		t.Error("white space counts")
	}
	if !heartbeat.IsAck(strings.Repeat("ä", 10)+" HEARTBEAT_OK", 10) {
		t.Error("the length is in bytes, not in characters")
	}
}

func TestAcknowledgements(t *testing.T) {
	for _, c := range []struct {
		text      string
		ack, pure bool
	}{
		{"", true, true},
		{"HEARTBEAT_OK", true, true},
		{"NO_REPLY", true, true},
		{`{"action":"NO_REPLY"}`, true, true},
		{"**HEARTBEAT_OK.**", true, true},
		{"HEARTBEAT_OK. exit 1, tests failed", true, false}, // 5.4 row 20
		{"HEARTBEAT_OK all good", true, false},
		{"All good", false, false},
		{"no_reply: actual reminder", false, false},
		{"HEARTBEAT_OKAY", false, false},
	} {
		if got := heartbeat.IsAck(c.text, heartbeat.DefaultAckMaxChars); got != c.ack {
			t.Errorf("IsAck(%q) = %t", c.text, got)
		}
		if got := heartbeat.PureAck(c.text); got != c.pure {
			t.Errorf("PureAck(%q) = %t", c.text, got)
		}
	}
	if heartbeat.IsAck("HEARTBEAT_OK all good", 0) { // 5.4 row 15
		t.Error("with ackMaxChars 0 a word is no acknowledgement")
	}
}

func TestSilenced(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		want       bool
	}{
		{"Looked at 3 mails.\nnotify=false", "Looked at 3 mails.", true},
		{"Looked at 3 mails.\r\n`notify=false`\r\n\n", "Looked at 3 mails.", true},
		{"notify=false", "", true},
		{"notify=false\nDisk is full", "notify=false\nDisk is full", false},
		{"set notify=false", "set notify=false", false},
		{"x\nnotify=true", "x\nnotify=true", false},
	} {
		if rest, ok := heartbeat.Silenced(c.text); ok != c.want || rest != c.rest {
			t.Errorf("%q: %q, %t", c.text, rest, ok)
		}
	}
}

// letters are what carries meaning.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}

// Whatever is stripped, no word but tokens gets lost: without tags in the
// text, the letters that are missing are those of tokens.
func FuzzStrip(f *testing.F) {
	for _, r := range append(rows, more...) {
		f.Add(r.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := heartbeat.Strip(in, heartbeat.ModeMessage, 0)
		if got.Skip != (got.Text == "") {
			t.Fatalf("%q: %+v", in, got)
		}
		if letters(got.Rest) != letters(got.Text) || strings.Join(strings.Fields(got.Rest), " ") != strings.Join(strings.Fields(got.Text), " ") {
			t.Fatalf("%q: the text for people has other words: %+v", in, got)
		}
		if !got.DidStrip && !got.Skip && got.Text != strings.TrimSpace(in) {
			t.Fatalf("%q: changed without a token: %q", in, got.Text)
		}
		if short := heartbeat.Strip(in, heartbeat.ModeHeartbeat, 300); got.Skip && !short.Skip {
			t.Fatalf("%q: nothing in a message, something in a heartbeat", in)
		}
		if strings.ContainsAny(in, "<&{") || !got.DidStrip {
			return
		}
		tokens := strings.NewReplacer("HEARTBEATOK", "", "NOREPLY", "")
		if a, b := tokens.Replace(letters(in)), tokens.Replace(letters(got.Text)); a != b {
			t.Fatalf("%q: words are lost: %q, %q", in, a, b)
		}
	})
}
