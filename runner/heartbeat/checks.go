package heartbeat

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/program"
	"claw/runner/output"
	"claw/state/process"
)

// The limits of one check of heartbeat.d.
const (
	checkTimeout = 60 * time.Second
	checkOutput  = 4000     // characters of its output that an alert shows
	checkKept    = 16 << 10 // bytes of its output that are kept until then
)

// Check is what one executable of heartbeat.d said.
type Check struct {
	Name     string
	Output   string // stdout and stderr as they came, sanitised, both ends of it
	Code     int    // exit code; 128+n for signal n, 126 when it could not be started, 125 when nobody knows
	TimedOut bool
}

// Quiet tells a check that has nothing to say: exit 0 and no output;
// design.md section 5.
func (c Check) Quiet() bool { return c.Code == 0 && c.Output == "" && !c.TimedOut }

// Alert is the check for a person: "disk check: / is 91 % full".
func (c Check) Alert() string {
	head := c.Name + " check"
	switch {
	case c.TimedOut:
		head += " did not end within " + process.HumanDuration(checkTimeout) + " and was ended"
	case c.Code != 0 && c.Output == "":
		head += " failed without output"
	}
	if c.Code != 0 && !c.TimedOut {
		head += " (exit " + strconv.Itoa(c.Code) + ")"
	}
	switch {
	case c.Output == "":
		return head
	case strings.Contains(c.Output, "\n"):
		return head + ":\n" + c.Output
	}
	return head + ": " + c.Output
}

// loud are the checks that have something to say.
func loud(checks []Check) []Check {
	var said []Check
	for _, c := range checks {
		if !c.Quiet() {
			said = append(said, c)
		}
	}
	return said
}

func alerts(checks []Check) []string {
	texts := make([]string, len(checks))
	for i, c := range checks {
		texts[i] = c.Alert()
	}
	return texts
}

// checkFiles are the executables of heartbeat.d in the order of run-parts: by
// name, and only names of letters, digits, "_", "-" and "." that do not begin
// with a dot. A folder that is not there has none.
func (e *Engine) checkFiles() []string {
	dir := filepath.Join(e.ConfigDir, "heartbeat.d")
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && checkName(entry.Name()) && unix.Access(path, unix.X_OK) == nil {
			files = append(files, path)
		}
	}
	return files
}

func checkName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && name[0] != '.'
}

// check runs the checks one after the other for an agent's heartbeat. When ctx
// ends, the rest is left out and its cause is returned.
func (e *Engine) check(ctx context.Context, agent, sessionKey string) ([]Check, error) {
	files := e.checkFiles()
	checks := make([]Check, 0, len(files))
	env := append(append([]string(nil), e.Environ...),
		"CLAW_AGENT="+agent, "CLAW_SESSION="+sessionKey, "CLAW_STATE_DIR="+e.Store.Dir(), "CLAW_REASON=heartbeat-check")
	for _, path := range files {
		c := runCheck(ctx, path, env, checkTimeout)
		if ctx.Err() != nil {
			return checks, context.Cause(ctx)
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// runCheck runs one check, which is ended with all that it started when the
// time is up. What a check that ends leaves behind on purpose may go on, and
// may even hold its output open: nobody waits for that.
func runCheck(ctx context.Context, path string, env []string, limit time.Duration) Check {
	seen := program.Run(ctx, program.Spec{
		Argv: []string{path}, Env: env, Dir: filepath.Dir(path), Limit: limit,
		Merge: true, Stdout: program.Keep{Head: checkKept, Tail: checkKept},
	})
	c := Check{Name: filepath.Base(path), Code: codeOf(seen), TimedOut: seen.TimedOut}
	c.Output = process.Elide(strings.TrimSpace(output.Sanitize(seen.Stdout)), checkOutput)
	if !seen.Started {
		c.Output = "it could not be started: " + reason(seen.Err)
	}
	return c
}

func codeOf(seen program.Result) int {
	switch {
	case !seen.Started:
		return 126
	case seen.Signal != 0:
		return 128 + int(seen.Signal)
	case seen.Code < 0: // nobody knows
		return 125
	}
	return seen.Code
}

// reason is the innermost words of an error: "permission denied".
func reason(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}
