// Package faultfs is a file system that dies on purpose. It works on a real
// directory, counts the operations that change something, and at a chosen one
// stops for ever; Settle then leaves in the directory what the next program
// would find after a kill or a power cut.
//
// It is stricter than any real file system: only Sync makes bytes durable and
// only SyncDir makes names durable, in Lost mode nothing else survives.
package faultfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"claw/state/internal/vfs"
)

// Mode is what becomes of unsynced data when the machine stops.
type Mode int

// The modes. Kept is the death of a process; the others are power cuts.
const (
	Kept   Mode = iota // everything stays; the write in progress is done by half
	Lost               // unsynced bytes and names are gone
	Torn               // names stay; of unsynced bytes the first half stays
	Zeroed             // names and lengths stay; unsynced bytes are zero
)

// Modes lists them.
func Modes() []Mode { return []Mode{Kept, Lost, Torn, Zeroed} }

func (m Mode) String() string { return [...]string{"kept", "lost", "torn", "zeroed"}[m] }

// ErrCrashed is the error of every operation from the chosen one on.
var ErrCrashed = errors.New("faultfs: the machine has stopped")

// Op is one operation that changes something: create, write, truncate, sync,
// syncdir, mkdir, rename, remove.
type Op struct {
	N    int // from 1
	Name string
	Path string
}

// FS is a vfs.FS over the directory Root. Paths outside of it pass through.
type FS struct {
	root string
	os   vfs.OS

	mu      sync.Mutex
	tree    *node
	ops     []Op
	at      int
	mode    Mode
	crashed bool
	fault   func(Op) error
	remote  string
}

// node is one file or directory as the disk knows it.
type node struct {
	kids    map[string]*node // nil for a file
	durable map[string]*node // names as of the last SyncDir
	synced  []byte           // bytes as of the last Sync
	perm    fs.FileMode
}

// New tracks the directory root, whose present contents count as durable.
func New(root string) *FS {
	root, _ = filepath.Abs(root)
	return &FS{root: root, tree: survey(root)}
}

// survey reads a directory as durable.
func survey(path string) *node {
	info, err := os.Lstat(path)
	if err != nil {
		return &node{kids: map[string]*node{}, durable: map[string]*node{}, perm: 0o700}
	}
	n := &node{perm: info.Mode().Perm()}
	if !info.IsDir() {
		n.synced, _ = os.ReadFile(path)
		return n
	}
	n.kids, n.durable = map[string]*node{}, map[string]*node{}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		kid := survey(filepath.Join(path, e.Name()))
		n.kids[e.Name()], n.durable[e.Name()] = kid, kid
	}
	return n
}

// CrashAt stops the machine at the nth operation from now on.
func (f *FS) CrashAt(n int, mode Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.mode = len(f.ops)+n, mode
}

// Fail asks fault before every operation; what it returns is the operation's
// error. A write that fails with ENOSPC has been done by half.
func (f *FS) Fail(fault func(Op) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// PretendRemote makes Remote answer kind.
func (f *FS) PretendRemote(kind string) { f.remote = kind }

// Ops lists the operations so far.
func (f *FS) Ops() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Op(nil), f.ops...)
}

// Crashed tells whether the machine has stopped.
func (f *FS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crashed
}

// step counts one operation. die tells that it is the last one, err that it
// must not be carried out.
func (f *FS) step(name, path string) (die bool, err error) {
	if f.crashed {
		return false, ErrCrashed
	}
	op := Op{len(f.ops) + 1, name, path}
	f.ops = append(f.ops, op)
	if op.N == f.at {
		f.crashed = true
		return true, ErrCrashed
	}
	if f.fault != nil {
		return false, f.fault(op)
	}
	return false, nil
}

// find walks to a path; nil when it is not tracked.
func (f *FS) find(path string) *node {
	abs, _ := filepath.Abs(path)
	rel, err := filepath.Rel(f.root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil
	}
	n := f.tree
	for _, part := range strings.Split(rel, "/") {
		if part != "." && n != nil {
			n = n.kids[part]
		}
	}
	return n
}

// parent gives the directory that holds path, and the name in it.
func (f *FS) parent(path string) (*node, string) {
	return f.find(filepath.Dir(path)), filepath.Base(path)
}

// reading refuses once the machine has stopped.
func (f *FS) reading() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed {
		return ErrCrashed
	}
	return nil
}

// OpenFile counts as an operation when it creates or empties a file.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed {
		return nil, ErrCrashed
	}
	_, err := os.Lstat(name)
	creates := err != nil && flag&os.O_CREATE != 0
	if creates || err == nil && flag&os.O_TRUNC != 0 {
		if _, err := f.step("create", name); err != nil {
			return nil, pathError("open", name, err)
		}
	}
	if flag&os.O_WRONLY != 0 {
		flag = flag&^os.O_WRONLY | os.O_RDWR // Sync reads the bytes back
	}
	file, err := f.os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if up, base := f.parent(name); creates && up != nil && up.kids != nil {
		up.kids[base] = &node{perm: perm}
	}
	return &handle{File: file, fs: f, node: f.find(name), appends: flag&os.O_APPEND != 0}, nil
}

// Stat follows links.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.reading(); err != nil {
		return nil, err
	}
	return f.os.Stat(name)
}

// Lstat does not.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.reading(); err != nil {
		return nil, err
	}
	return f.os.Lstat(name)
}

// ReadDir lists a directory, sorted.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.reading(); err != nil {
		return nil, err
	}
	return f.os.ReadDir(name)
}

// Mkdir makes a directory; its name is durable after SyncDir of its parent.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.step("mkdir", name); err != nil {
		return pathError("mkdir", name, err)
	}
	if err := f.os.Mkdir(name, perm); err != nil {
		return err
	}
	if up, base := f.parent(name); up != nil && up.kids != nil {
		up.kids[base] = &node{kids: map[string]*node{}, durable: map[string]*node{}, perm: perm}
	}
	return nil
}

// Rename moves a name, also between directories.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := os.Lstat(from); err != nil && !f.crashed {
		return pathError("rename", from, fs.ErrNotExist) // changes nothing, so it does not count
	}
	if _, err := f.step("rename", to); err != nil {
		return pathError("rename", to, err)
	}
	if err := f.os.Rename(from, to); err != nil {
		return err
	}
	src, a := f.parent(from)
	dst, b := f.parent(to)
	if src != nil && dst != nil {
		dst.kids[b] = src.kids[a]
		delete(src.kids, a)
	}
	return nil
}

// Remove takes a name away.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.step("remove", name); err != nil {
		return pathError("remove", name, err)
	}
	if err := f.os.Remove(name); err != nil {
		return err
	}
	if up, base := f.parent(name); up != nil {
		delete(up.kids, base)
	}
	return nil
}

// SyncDir makes the names in a directory durable.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.step("syncdir", name); err != nil {
		return pathError("sync", name, err)
	}
	if n := f.find(name); n != nil && n.kids != nil {
		n.durable = make(map[string]*node, len(n.kids))
		for k, v := range n.kids {
			n.durable[k] = v
		}
	}
	return nil
}

// Remote answers what PretendRemote was given.
func (f *FS) Remote(string) (string, error) { return f.remote, nil }

func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}
