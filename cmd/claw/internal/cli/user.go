package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"claw/state/crontab"
)

// user is who runs claw: what the kernel says, and not a variable, which cron,
// sudo and su set each in their own way.
type user struct {
	uid  int
	name string         // a number where the uid has none
	uids map[string]int // of /etc/passwd, by name
}

// caller is who runs this. Names are read from the file: the way through the
// system's libraries would make every start slower.
func caller() (user, error) {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return user{}, err
	}
	u := passwd(string(text), os.Getuid())
	if u.name == "" {
		out, _ := exec.Command("id", "-un").Output() // from a directory service, or macOS
		u.name = firstOf(strings.TrimSpace(string(out)), strconv.Itoa(u.uid))
	}
	return u, nil
}

// passwd reads NAME:x:UID:… lines.
func passwd(text string, uid int) user {
	u := user{uid: uid, uids: map[string]int{}}
	for line := range strings.Lines(text) {
		f := strings.Split(line, ":")
		if len(f) < 3 || f[0] == "" || f[0][0] == '#' {
			continue
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			continue
		}
		if _, twice := u.uids[f[0]]; !twice {
			u.uids[f[0]] = n
		}
		if n == uid && u.name == "" {
			u.name = f[0]
		}
	}
	return u
}

// is tells a name of the same user.
func (u user) is(name string) bool {
	uid, known := u.uids[name]
	return name == u.name || known && uid == u.uid
}

// isSystem tells lines that, read as those of one user, would all begin with the
// name of a user that is no program: a crontab of the system.
func (u user) isSystem(lines []crontab.Entry) bool {
	for _, e := range lines {
		name, _, _ := strings.Cut(strings.ReplaceAll(e.Command, "\t", " "), " ")
		if _, known := u.uids[name]; !known {
			return false
		}
		if _, err := exec.LookPath(name); err == nil {
			return false
		}
	}
	return len(lines) > 0
}

// owner is whose lines a file has: a spool of cron names its files after their
// users; what belongs to another user is that one's, or root would run it.
func (u user) owner(file string) string {
	if file == "" || file == "-" {
		return u.name
	}
	if full, err := filepath.Abs(file); err == nil {
		file = full
	}
	if dir := filepath.Dir(file); strings.HasSuffix(dir, "/cron/crontabs") || strings.HasSuffix(dir, "/cron/tabs") || dir == "/var/spool/cron" {
		return filepath.Base(file)
	}
	info, err := os.Stat(file)
	if err != nil {
		return u.name
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == u.uid || u.uid != 0 {
		return u.name // who is not root runs nothing as another
	}
	found := strconv.Itoa(int(st.Uid))
	for _, name := range slices.Sorted(maps.Keys(u.uids)) {
		if u.uids[name] == int(st.Uid) {
			found = name
		}
	}
	return found
}
