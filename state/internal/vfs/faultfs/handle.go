package faultfs

import (
	"errors"
	"io/fs"
	"syscall"

	"claw/state/internal/vfs"
)

// handle is one open file. The real file holds its present bytes, the node
// those that are durable.
type handle struct {
	vfs.File
	fs      *FS
	node    *node // nil when the file is not tracked
	appends bool
}

func (h *handle) Read(p []byte) (int, error) {
	if err := h.fs.reading(); err != nil {
		return 0, err
	}
	return h.File.Read(p)
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if err := h.fs.reading(); err != nil {
		return 0, err
	}
	return h.File.ReadAt(p, off)
}

func (h *handle) Stat() (fs.FileInfo, error) {
	if err := h.fs.reading(); err != nil {
		return nil, err
	}
	return h.File.Stat()
}

func (h *handle) Write(p []byte) (int, error) { return h.write(p, h.File.Write) }

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	return h.write(p, func(p []byte) (int, error) { return h.File.WriteAt(p, off) })
}

// write dies or fails in the middle. In the modes that forget unsynced bytes
// the whole write is made first, so that there is something to forget.
func (h *handle) write(p []byte, do func([]byte) (int, error)) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	die, err := h.fs.step("write", h.Name())
	switch {
	case die && (h.fs.mode == Lost || h.fs.mode == Zeroed):
		_, _ = do(p)
		return 0, pathError("write", h.Name(), err)
	case die, errors.Is(err, syscall.ENOSPC):
		n, _ := do(p[:len(p)/2])
		return n, pathError("write", h.Name(), err)
	case err != nil:
		return 0, pathError("write", h.Name(), err)
	}
	return do(p)
}

func (h *handle) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if _, err := h.fs.step("truncate", h.Name()); err != nil {
		return pathError("truncate", h.Name(), err)
	}
	return h.File.Truncate(size)
}

// Sync takes the present bytes for durable. The disk itself is not asked.
func (h *handle) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if _, err := h.fs.step("sync", h.Name()); err != nil {
		return pathError("sync", h.Name(), err)
	}
	if h.node == nil {
		return nil
	}
	st, err := h.File.Stat()
	if err != nil {
		return err
	}
	now := make([]byte, st.Size())
	if n, err := h.File.ReadAt(now, 0); n < len(now) {
		return err
	}
	h.node.synced = now
	return nil
}
