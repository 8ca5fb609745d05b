package faultfs

import (
	"bytes"
	"os"
	"path/filepath"
)

// Settle leaves in the directory what the next program finds. Files that were
// made behind the back of this FS, such as locks, stay where their directory
// does.
func (f *FS) Settle() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashed = true
	if f.mode == Kept {
		return nil
	}
	return f.settleDir(f.root, f.tree)
}

func (f *FS) settleDir(path string, n *node) error {
	left := n.kids
	if f.mode == Lost {
		left = n.durable
	}
	for name, kid := range n.kids {
		if left[name] != kid {
			if err := os.RemoveAll(filepath.Join(path, name)); err != nil {
				return err
			}
		}
	}
	for name, kid := range left {
		if err := f.settle(filepath.Join(path, name), kid); err != nil {
			return err
		}
	}
	return nil
}

func (f *FS) settle(path string, n *node) error {
	if n.kids != nil {
		if err := os.MkdirAll(path, n.perm); err != nil {
			return err
		}
		return f.settleDir(path, n)
	}
	now, _ := os.ReadFile(path)
	return os.WriteFile(path, f.survives(now, n.synced), n.perm)
}

// survives is what is left of a file: now is what was written, synced what is
// certain.
func (f *FS) survives(now, synced []byte) []byte {
	if f.mode == Lost {
		return synced
	}
	same := 0
	for same < len(now) && same < len(synced) && now[same] == synced[same] {
		same++
	}
	if f.mode == Torn {
		return now[:same+(len(now)-same)/2]
	}
	return append(bytes.Clone(now[:same]), make([]byte, len(now)-same)...)
}
