//go:build !linux

package main_test

import "errors"

// mortal needs Linux: there it kills claw at its Nth act.
func mortal() { fail(errors.New("only on Linux")) }

// living is said on Linux only.
func living(string) string { return "" }
