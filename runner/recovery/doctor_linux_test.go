package recovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claw/runner/recovery"
)

// TestWatches: nine tenths of a limit of inotify(7) are in use, of this user's
// programs, or not. The files are as proc(5) has them.
func TestWatches(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		instances, marks         int // of one program each
		mostInstances, mostMarks int
		want                     []string
	}{
		{"far from it", 3, 10, 128, 65536, nil},
		{"instances at nine tenths", 9, 1, 10, 65536, []string{"fs.inotify.max_user_instances"}},
		{"instances just below", 8, 1, 10, 65536, nil},
		{"watches at the limit", 2, 50, 128, 100, []string{"fs.inotify.max_user_watches"}},
		{"both", 10, 10, 10, 100, []string{"fs.inotify.max_user_instances", "fs.inotify.max_user_watches"}},
		{"a kernel without the limits", 10, 10, 0, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for i := range tt.instances {
				dir := filepath.Join(root, "proc", fmt.Sprint(100+i))
				write(t, filepath.Join(dir, "fdinfo", "5"), "pos:\t0\n"+strings.Repeat("inotify wd:1 ino:2 sdev:3\n", tt.marks))
				if err := os.MkdirAll(filepath.Join(dir, "fd"), 0o700); err != nil {
					t.Fatal(err)
				}
				for fd, target := range map[string]string{"5": "anon_inode:inotify", "6": "socket:[1]"} {
					if err := os.Symlink(target, filepath.Join(dir, "fd", fd)); err != nil {
						t.Fatal(err)
					}
				}
			}
			for name, n := range map[string]int{"max_user_instances": tt.mostInstances, "max_user_watches": tt.mostMarks} {
				if n > 0 {
					write(t, filepath.Join(root, "proc/sys/fs/inotify", name), fmt.Sprintln(n))
				}
			}
			var got []string
			for _, f := range recovery.Watches(root) {
				got = append(got, f.Where)
				if f.Code != "inotify_low" || !strings.HasPrefix(f.Fix, "sudo sysctl "+f.Where+"=") {
					t.Errorf("%+v", f)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
