package delivery

import (
	"strings"
	"unicode"
)

// Verdict is what the end of a channel's program says about the message.
type Verdict string

// The verdicts.
const (
	Sent      Verdict = "sent"      // it was delivered
	NotSent   Verdict = "not_sent"  // it certainly was not; again later
	NotReady  Verdict = "not_ready" // nothing was tried; again later, without a charge
	Permanent Verdict = "permanent" // it was not, and never will be
	Uncertain Verdict = "unknown"   // it may or may not have been; never again by itself
)

// Exit is how a channel's program ended.
type Exit struct {
	Code      int
	Started   bool
	Signalled bool // by whomever
	TimedOut  bool // claw ended it
}

// What a channel says about its failures that say nothing themselves. Without
// a word of it an exit code is FailureNotSent and a broken web server
// FailureUnknown.
const (
	FailureNotSent = "not_sent"
	FailureUnknown = "unknown"
)

// Answer is what a channel says about an attempt of unknown outcome.
type Answer string

// The answers; design.md section 5.
const (
	AnswerSent       Answer = "sent"
	AnswerNotSent    Answer = "not_sent" // the only one after which it may be sent again
	AnswerUnresolved Answer = "unresolved"
)

// ReadAnswer reads the stdout of a channel that was asked: its first word is
// the answer, wherever the line ends, and what follows is the receipt. A word
// that is none of the answers is unresolved, which never does harm.
func ReadAnswer(stdout string) (a Answer, receipt string) {
	stdout = strings.TrimSpace(stdout)
	word := stdout
	if i := strings.IndexFunc(stdout, unicode.IsSpace); i >= 0 {
		word, receipt = stdout[:i], strings.TrimSpace(stdout[i:])
	}
	switch a = Answer(word); a {
	case AnswerSent, AnswerNotSent:
		return a, receipt
	}
	return AnswerUnresolved, ""
}

// The exit codes of sysexits.h that mean something here.
const (
	exUsage    = 64
	exSoftware = 70
	exTempFail = 75
	exProtocol = 76
	exConfig   = 78
)

// Classify reads the end of a channel's program; design.md section 5. failure
// is the channel's own word on codes that say nothing: not_sent or unknown.
func Classify(e Exit, failure string) Verdict {
	switch {
	case !e.Started:
		return NotReady
	case e.TimedOut, e.Signalled:
		return Uncertain
	case e.Code == 0:
		return Sent
	case e.Code == exTempFail:
		return NotSent
	case e.Code >= exUsage && e.Code <= exSoftware, e.Code >= exProtocol && e.Code <= exConfig:
		return Permanent
	case failure == FailureUnknown:
		return Uncertain
	}
	return NotSent
}

// HTTP is how one request of a webhook went.
type HTTP struct {
	Status  int  // 0: no answer came
	Request bool // some of the request had gone out
}

// Redirect tells an answer that sends the client elsewhere.
func (h HTTP) Redirect() bool {
	switch h.Status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// ClassifyHTTP reads the answer of a webhook. An answer that says "not now"
// proves that the message was not taken; a broken server or gateway proves
// nothing, unless failure is not_sent. Without an answer it was not sent as
// long as no request had gone out.
func ClassifyHTTP(h HTTP, failure string) Verdict {
	s := h.Status
	switch {
	case s == 0 && !h.Request:
		return NotSent
	case s >= 200 && s < 300:
		return Sent
	case s == 408, s == 425, s == 429, s == 503: // timeout, too early, too many, unavailable
		return NotSent
	case s >= 300 && s < 500:
		return Permanent // a redirect too: a POST is not sent on to wherever
	case s >= 500 && failure == FailureNotSent:
		return NotSent
	}
	return Uncertain
}
