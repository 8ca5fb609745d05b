package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"claw/state"
)

// place looks at where the state directory is, and opens it; false when there
// is nothing that could be looked at.
func (x *exam) place() bool {
	reach := make(chan error, 1)
	x.findings = append(x.findings, x.ask(question{x.Dir, func(context.Context) []Finding {
		_, err := os.ReadDir(x.Dir)
		reach <- err
		return nil
	}}).answers()...)
	var err error
	select {
	case err = <-reach:
	default:
		x.findings = nil
		x.add("state_no_answer", x.Dir, "its disk does not answer, and was not waited for", "mount shows the disk; point CLAW_STATE_DIR at a local one")
		return false
	}
	if errors.Is(err, fs.ErrNotExist) {
		x.absent()
		return false
	}
	x.part("state_refused", func() (err error) {
		x.store, err = x.Open()
		return err
	})
	x.disk()
	x.synced()
	if x.store == nil {
		return false
	}
	x.modes()
	return true
}

// absent tells what the first command would meet.
func (x *exam) absent() {
	parent := x.Dir
	for {
		parent = filepath.Dir(parent)
		if _, err := os.Stat(parent); err == nil || parent == "/" || parent == "." {
			break
		}
	}
	if err := unix.Access(parent, unix.W_OK); err != nil {
		x.add("state_refused", x.Dir, "it does not exist, and cannot be made in "+parent+": "+err.Error(), "point CLAW_STATE_DIR at a directory of yours")
		return
	}
	x.add("state_missing", x.Dir, "it does not exist yet", "any command that writes makes it, such as claw heartbeat tick")
	x.synced()
}

// What is left on a disk, in bytes, before something is said.
const (
	fullBelow = 64 << 10 // a transaction may not fit
	lowBelow  = 64 << 20 // on any disk
	lowShare  = 20       // a twentieth, and less than
	lowAtMost = 2 << 30  // which is what outputs may take, by default
)

// disk looks at the file system and at what is left on it.
func (x *exam) disk() {
	var st unix.Statfs_t
	if err := unix.Statfs(x.Dir, &st); err != nil {
		return
	}
	size := uint64(st.Bsize)
	free, all := uint64(st.Bavail)*size, uint64(st.Blocks)*size
	switch {
	case readOnly(&st) || x.store != nil && unix.Access(x.Dir, unix.W_OK) == unix.EROFS:
		x.readonly = true
		x.add("state_readonly", x.Dir, "the disk is read-only: claw can show everything and do nothing", "mount it read-write, or point CLAW_STATE_DIR elsewhere")
	case free < fullBelow:
		x.add("disk_full", x.Dir, "nothing is left on the disk: no command can be started", "claw tasks maintenance --apply, and rm what else is large; du -sh "+x.Dir)
	case st.Files > 0 && st.Ffree == 0:
		x.add("disk_full", x.Dir, "the disk can hold no more files", "df -i "+x.Dir)
	case free < lowBelow || free < all/lowShare && free < lowAtMost:
		x.add("disk_low", x.Dir, fmt.Sprintf("%s of %s are left on the disk", bytesWords(free), bytesWords(all)), "free some; state.outputBudget in claw.toml bounds what claw keeps")
	}
	switch kind := memoryFS(&st); {
	case kind != "":
		x.add("fs_memory", x.Dir, "it is on "+kind+": a restart of the machine takes everything with it", "point CLAW_STATE_DIR at a disk, and mv "+x.Dir+" there")
	case x.UnsafeFS && x.store != nil:
		x.remote()
	}
}

func bytesWords(n uint64) string {
	const kib = 1024
	for _, u := range [...]struct {
		size uint64
		name string
	}{{kib * kib * kib, "GiB"}, {kib * kib, "MiB"}, {kib, "KiB"}} {
		if n >= u.size {
			return strconv.FormatFloat(float64(n)/float64(u.size), 'f', 1, 64) + " " + u.name
		}
	}
	return strconv.FormatUint(n, 10) + " bytes"
}

// clouds are the folders of programs that copy files between machines, in
// lower case; with a * the name may go on.
var clouds = [...]struct{ folder, name string }{
	{"dropbox*", "Dropbox"},
	{"onedrive*", "OneDrive"},
	{"google drive*", "Google Drive"},
	{"googledrive*", "Google Drive"},
	{"my drive", "Google Drive"},
	{"mobile documents", "iCloud"},
	{"cloudstorage", "a cloud provider"},
	{"icloud drive*", "iCloud"},
	{"nextcloud*", "Nextcloud"},
	{"owncloud*", "ownCloud"},
	{"pclouddrive", "pCloud"},
	{"megasync*", "MEGA"},
	{"seafile*", "Seafile"},
	{"syncthing", "Syncthing"},
}

// synced tells a directory that another program copies while claw writes to it:
// two machines would then write to the same journal.
func (x *exam) synced() {
	path := x.Dir
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	who := CloudOf(path)
	for at := path; who == "" && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".stfolder")); err == nil {
			who = "Syncthing"
		}
	}
	if who != "" {
		x.add("fs_synced", x.Dir, who+" copies it: what two machines write at the same time is lost", "mv "+x.Dir+" to a directory that is not copied, and set CLAW_STATE_DIR")
	}
}

// CloudOf names the program that copies what lies at path, by the names of the
// folders; empty: none that is known.
func CloudOf(path string) string {
	for part := range strings.SplitSeq(strings.ToLower(path), "/") {
		for _, c := range clouds {
			begin, open := strings.CutSuffix(c.folder, "*")
			if part == begin || open && strings.HasPrefix(part, begin) && !isLetter(part[len(begin):]) {
				return c.name
			}
		}
	}
	return ""
}

// isLetter tells that a name goes on as another word.
func isLetter(rest string) bool { return rest != "" && rest[0] >= 'a' && rest[0] <= 'z' }

// modes looks at who can read the directory, and whose its files are: claw as
// root leaves files that the user cannot write.
func (x *exam) modes() {
	info, err := os.Stat(x.Dir)
	if err != nil {
		return
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		x.exposed(mode)
	}
	uid := uint32(os.Geteuid())
	for _, rel := range []string{"", "ledgers", "archive", "sessions", "processes", "quarantine"} {
		entries, err := os.ReadDir(filepath.Join(x.Dir, rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			x.add("state_owner", rel, reason(err), "sudo chown -R "+strconv.Itoa(int(uid))+" "+x.Dir)
		}
		x.owners(rel, entries, uid)
	}
}

func (x *exam) exposed(mode fs.FileMode) {
	what := fmt.Sprintf("others can look into it (mode %04o); outputs and conversations may be secret", mode)
	if !x.fix {
		x.add("state_exposed", x.Dir, what, mends+" sets 0700")
		return
	}
	if err := os.Chmod(x.Dir, 0o700); err != nil {
		x.add("fix_failed", x.Dir, what+"; "+reason(err), "chmod 700 "+x.Dir)
		return
	}
	x.mended("state_exposed", x.Dir, what, "it has mode 0700 now")
}

// mostShown is how many findings of one kind are made, where there may be very
// many.
const mostShown = 20

func (x *exam) owners(rel string, entries []fs.DirEntry, uid uint32) {
	strangers := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || st.Uid == uid || uid == 0 && st.Uid == dirOwner(x.Dir) {
			continue
		}
		if strangers++; strangers > mostShown {
			return
		}
		x.add("state_owner", filepath.Join(rel, e.Name()), "it belongs to user "+strconv.Itoa(int(st.Uid))+": claw was run as somebody else", "sudo chown -R "+strconv.Itoa(int(uid))+" "+x.Dir)
	}
}

func dirOwner(dir string) uint32 {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return 0
	}
	return st.Uid
}

// reason is the innermost text of an error of the system.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func asStateError(err error) (*state.Error, bool) { return errors.AsType[*state.Error](err) }
