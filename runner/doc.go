// Package runner does what there is to do: once (Tick) or for as long as it
// lives (Run). Both hold runner.lock.
package runner
