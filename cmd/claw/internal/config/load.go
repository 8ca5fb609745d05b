package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxFile bounds a configuration file in bytes; a real one has a few thousand.
const maxFile = 1 << 20

// Load gives the configuration: the file that Paths names over the environment
// over the defaults. getenv is os.Getenv or a stand-in. A missing file is no
// error unless CLAW_CONFIG names it; what is wrong with a file is an *Error.
func Load(getenv func(string) string) (*Config, error) {
	c := defaults()
	name, from, err := file(getenv)
	if err != nil {
		c.applyEnv(getenv) // no home, no file; StateDir will complain if it matters
		return c, nil
	}
	c.file = name
	data, found, err := readFile(name)
	switch {
	case err != nil:
		return nil, err
	case found:
		if err := c.decode(name, Home(getenv), data); err != nil {
			return nil, err
		}
	case from == "CLAW_CONFIG":
		// The defaults would quietly run other agents than the ones it names.
		return nil, fileError(name, "there is no such file, and CLAW_CONFIG names it", "unset CLAW_CONFIG to use the defaults, or name a file that is there")
	}
	c.applyEnv(getenv)
	return c, nil
}

// Parse reads the text of a configuration file called name, without the
// environment.
func Parse(name string, data []byte, home string) (*Config, error) {
	c := defaults()
	c.file = name
	if len(data) > maxFile {
		return nil, tooLarge(name)
	}
	if err := c.decode(name, home, data); err != nil {
		return nil, err
	}
	c.applyEnv(func(string) string { return "" })
	return c, nil
}

// readFile reads a whole file with one open. found is false when there is none.
// Non-blocking, so that a pipe in its place is an error and not a hang.
func readFile(name string) (data []byte, found bool, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fileError(name, "cannot be opened: "+reason(err), "make it readable, or name another file in CLAW_CONFIG")
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, false, fileError(name, "cannot be read: "+reason(err), "")
	case info.IsDir():
		return nil, false, fileError(name, "is a directory, not a file", "name the file itself, usually claw.toml in it")
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeCharDevice == 0: // /dev/null means no configuration
		return nil, false, fileError(name, "is not a regular file", "")
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, false, fileError(name, "cannot be read: "+reason(err), "")
	case len(data) > maxFile:
		return nil, false, tooLarge(name)
	}
	return data, true, nil
}

func tooLarge(name string) error {
	return fileError(name, fmt.Sprintf("is larger than %s", exactSize(maxFile)), "is it really the configuration file?")
}

// reason is the system's own word for an error, without the path.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}
