package supervisor

import (
	"runtime/debug"
	"time"
)

const trimAfter = 300 * time.Millisecond

// trimMemory gives unused heap back.
func trimMemory() { debug.FreeOSMemory() }
