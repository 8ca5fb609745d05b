//go:build linux

package main_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// installed is where the files of contrib expect the program.
const installed = "/usr/local/bin/claw"

func contribFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(contrib, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("contrib/%s: %v, %v", pattern, files, err)
	}
	return files
}

// missing skips for want of a program, except where nothing may be skipped.
func missing(t *testing.T, program string) {
	t.Helper()
	if os.Getenv("CLAW_REQUIRE_ALL") == "1" {
		t.Fatalf("%s is not here", program)
	}
	t.Skipf("%s is not here", program)
}

// systemd itself reads the units, with the program in its place.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		missing(t, "systemd-analyze")
	}
	w, dir := newWorld(t), t.TempDir()
	var units []string
	for _, file := range contribFiles(t, "systemd/*") {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if strings.Contains(text, "[Service]") && (strings.Count(text, installed) != 1 || !strings.Contains(text, "\nKillMode=process\n")) {
			t.Errorf("%s: it does not start %s, or its stop would end what claw supervises", file, installed)
		}
		unit := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(unit, []byte(strings.ReplaceAll(text, installed, w.bin)), 0o600); err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	cmd := exec.Command(analyze, append([]string{"verify", "--user", "--man=no"}, units...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}

// plistOf reads the dictionary of a property list: key to the text of its
// value, arrays joined by blanks, true and false as their names.
func plistOf(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	values, key := map[string]string{}, ""
	var path, words []string
	for dec := xml.NewDecoder(f); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return values
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			path = append(path, x.Name.Local)
			words = words[:0:0]
		case xml.CharData:
			words = append(words, strings.Fields(string(x))...)
		case xml.EndElement:
			path = path[:len(path)-1]
			switch name := x.Name.Local; {
			case name == "key":
				key = strings.Join(words, " ")
			case name == "true" || name == "false":
				values[key] = name
			case name == "string" || name == "integer":
				values[key] = strings.TrimSpace(values[key] + " " + strings.Join(words, " "))
			}
			words = nil
		}
	}
}

func TestPlists(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"claw.runner.plist": {
			"Label": "claw.runner", "ProgramArguments": installed + " runner run", "RunAtLoad": "true",
			"SuccessfulExit": "false", "AbandonProcessGroup": "true", "ExitTimeOut": "20",
		},
		"claw.tick.plist": {
			"Label": "claw.tick", "ProgramArguments": installed + " heartbeat tick", "StartInterval": "60", "AbandonProcessGroup": "true",
		},
	} {
		got := plistOf(t, filepath.Join(contrib, "launchd", file))
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %q, want %q", file, key, got[key], value)
			}
		}
		if !strings.Contains(got["PATH"], "/usr/bin") {
			t.Errorf("%s: agents would not find their programs: PATH is %q", file, got["PATH"])
		}
	}
	if n := len(contribFiles(t, "launchd/*.plist")); n != 2 {
		t.Errorf("%d plists, of which 2 are looked at", n)
	}
}

// Each recipe is a claw.toml that claw accepts, and makes an agent of it.
func TestRecipes(t *testing.T) {
	w := newWorld(t)
	var names []string
	for _, file := range contribFiles(t, "agents/*.toml") {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".toml"))
		abs, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		v := w.with("CLAW_CONFIG=" + abs)
		if r := v.claw("config", "check"); r.code != 0 || strings.Contains(r.err, "warning") {
			t.Errorf("%s: exit %d\n%s%s", file, r.code, r.out, r.err)
		}
		if r := v.claw("heartbeat", "tick", "--dry-run"); r.code != 0 {
			t.Errorf("%s: a tick: exit %d\n%s%s", file, r.code, r.out, r.err)
		}
	}
	if want := []string{"claude-code", "codex", "gemini", "llm", "ollama"}; !slices.Equal(names, want) {
		t.Errorf("recipes for %v, want %v", names, want)
	}
}

// cron itself reads the crontab and calls the tick, in its own environment. It
// runs in a mount namespace with a spool of its own; @reboot spares the wait
// for the full minute.
func TestCron(t *testing.T) {
	w := newWorld(t)
	raw, err := os.ReadFile(filepath.Join(contrib, "cron", "crontab"))
	if err != nil {
		t.Fatal(err)
	}
	const line = "* * * * * " + installed + " heartbeat tick\n"
	if strings.Count(string(raw), line) != 1 {
		t.Fatalf("the crontab has no line %q:\n%s", line, raw)
	}
	cron, err := exec.LookPath("cron")
	if err != nil {
		cron = "/usr/sbin/cron"
	}
	if _, err := os.Stat(cron); err != nil {
		missing(t, "cron")
	}
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		missing(t, "a mount namespace: "+string(out))
	}
	said, code := filepath.Join(w.dir, "said"), filepath.Join(w.dir, "code")
	tab := filepath.Join(w.dir, "crontab")
	text := "HOME=" + filepath.Join(w.dir, "home") + "\nCLAW_STATE_DIR=" + w.state + "\n" + strings.ReplaceAll(string(raw), installed, w.bin) +
		"@reboot " + w.bin + " heartbeat tick >" + said + " 2>&1; echo $? >" + code + ".new; mv " + code + ".new " + code + "\n"
	if err := os.WriteFile(tab, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `mount -t tmpfs none /run && { test -L /var/run || mount -t tmpfs none /var/run; } && mount -t tmpfs none /var/spool/cron &&
		mkdir -m 1730 /var/spool/cron/crontabs && install -m 600 "$1" /var/spool/cron/crontabs/root && exec "$2" -f`
	cmd := exec.Command("unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", tab, cron)
	cmd.Env = w.env
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	w.until("cron has called a tick", func() bool {
		_, err := os.Stat(code)
		return err == nil
	})
	got, _ := os.ReadFile(code)
	words, _ := os.ReadFile(said)
	if string(got) != "0\n" || len(words) > 0 {
		t.Errorf("exit %s, printed %q: cron would send mail\n%s", got, words, out.String())
	}
	if r := w.claw("runner", "status", "--json"); !strings.Contains(r.out, `"lastTickAt"`) {
		t.Errorf("no tick is known: %s%s", r.out, r.err)
	}
}
