package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode"
)

// How long a token is.
const (
	minToken = 16   // characters, at least
	maxToken = 4096 // bytes of its file, at most
)

// token reads the token of webhooks each time: it can be changed while they are
// listened to.
func (a *app) token(file string) func() (string, error) {
	return func() (string, error) {
		token, from := strings.TrimSpace(a.env("HOOKS_TOKEN")), "$CLAW_HOOKS_TOKEN"
		if file != "" {
			var err error
			if token, err = secretIn(file); err != nil {
				return "", fmt.Errorf("the token cannot be read: %w", err)
			}
			from = file
		}
		switch {
		case token == "" && file == "":
			return "", errors.New("there is no token")
		case len(token) < minToken:
			return "", fmt.Errorf("the token in %s has %d characters; a token has at least %d", from, len(token), minToken)
		case strings.ContainsFunc(token, unicode.IsControl):
			return "", fmt.Errorf("the token in %s has a control character or several lines, which no header can have", from)
		}
		return token, nil
	}
}

// secretIn reads a secret from a file, without the space around it. Non-blocking,
// so that a pipe in its place is an error and not a hang.
func secretIn(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file; it is read for each request", file)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	switch {
	case err != nil:
		return "", err
	case len(raw) > maxToken:
		return "", fmt.Errorf("%s has more than %d bytes", file, maxToken)
	}
	return string(bytes.TrimSpace(raw)), nil
}
