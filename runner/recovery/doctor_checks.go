package recovery

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// checks looks for files of heartbeat.d that are not run: those that nobody may
// execute, and those whose name run-parts(8) passes over.
func checks(dir string) (found []Finding) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		where := filepath.Join(filepath.Base(dir), e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."), strings.HasPrefix(strings.ToLower(e.Name()), "readme"):
		case err != nil:
			found = append(found, Found("check_not_run", where, "it cannot be looked at: "+reason(err), "rm "+quoted(path)))
		case info.IsDir():
		case strings.ContainsFunc(e.Name(), oddInCheck):
			found = append(found, Found("check_not_run", where, "its name has other characters than letters, digits, _, - and .", "mv "+quoted(path)+" to another name"))
		case unix.Access(path, unix.X_OK) != nil:
			found = append(found, Found("check_not_run", where, fmt.Sprintf("it is not executable (mode %04o)", info.Mode().Perm()), "chmod +x "+quoted(path)))
		}
	}
	return found
}

// oddInCheck tells a character that the name of a check cannot have; as in
// runner/heartbeat.
func oddInCheck(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if !strings.ContainsFunc(path, func(c rune) bool { return oddInCheck(c) && c != '/' }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
