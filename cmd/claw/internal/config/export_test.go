package config

import "claw/state/heartbeat"

// For the tests of this package only.
var (
	HomeOf      = homeOf
	ParseEvery  = heartbeat.ParseEvery
	FormatEvery = formatEvery
	ExactSize   = exactSize
	MaxFile     = maxFile
)

// Bounds gives the limits of a whole-number key.
func Bounds(key string) (lo, hi int64) {
	f := find(rootFields, key)
	return f.min, f.max
}
