package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"claw/state/internal/vfs"
)

// quarantine keeps damaged bytes, durably, before they are taken out of their
// file: quarantine/FILE-lLINE-CRC holds them exactly, FILE-lLINE-CRC.why the
// reason. The name comes from the contents, so that a crash and a second try
// leave one copy.
func (d *Dir) quarantine(b Bad) error {
	if len(b.Bytes) == 0 {
		return nil
	}
	dir := d.file(QuarantineName)
	err := d.FS.Mkdir(dir, 0o700)
	if err == nil {
		err = d.FS.SyncDir(d.Path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return Wrap("quarantine", dir, err)
	}
	name := fmt.Sprintf("%s-l%d-%08x", strings.ReplaceAll(b.Path, "/", "_"), b.Line, sum32(0, b.Bytes))
	path := d.file(QuarantineName, name)
	if err := vfs.WriteFile(d.FS, path, b.Bytes, 0o600); err != nil {
		return Wrap("quarantine", path, err)
	}
	why := fmt.Sprintf("%d bytes from %s, line %d: %s\n", len(b.Bytes), b.Path, b.Line, b.Why)
	return Wrap("quarantine", path, vfs.WriteFile(d.FS, path+".why", []byte(why), 0o600))
}
