package proc

import "path/filepath"

// Shell chooses the shell for a command line and the flags that go before it,
// the last of which is -c; spec/exec-process.md 1.3. getenv reads the caller's
// environment, lookPath finds a program in the child's PATH. $SHELL is used
// unless it is fish (bash is preferred, then sh), a placeholder of a service
// user (false, nologin; #69077), unset, or not there.
func Shell(getenv func(string) string, lookPath func(string) (string, error)) (path string, args []string) {
	path = choose(getenv("SHELL"), lookPath)
	return path, shellFlags(filepath.Base(path))
}

func choose(shell string, lookPath func(string) (string, error)) string {
	switch filepath.Base(shell) {
	case "fish":
		if path, ok := firstOf(lookPath, "bash", "sh"); ok {
			return path
		}
	case "false", "nologin", ".":
		shell = ""
	}
	if shell != "" {
		if path, err := lookPath(shell); err == nil {
			return path
		}
	}
	if path, ok := firstOf(lookPath, "sh", "bash"); ok {
		return path
	}
	return "/bin/sh" // POSIX promises it; if it is missing the start says so
}

// firstOf finds the first of several programs that is there.
func firstOf(lookPath func(string) (string, error), names ...string) (string, bool) {
	for _, name := range names {
		if path, err := lookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// shellFlags keeps the user's start-up files out of commands.
func shellFlags(base string) []string {
	switch base {
	case "bash":
		return []string{"--noprofile", "--norc", "-c"}
	case "zsh":
		return []string{"-f", "-c"}
	case "fish":
		return []string{"--no-config", "-c"}
	}
	return []string{"-c"}
}
