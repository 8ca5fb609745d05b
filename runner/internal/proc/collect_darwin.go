package proc

// collect reaps a child whenever it ends.
func collect(pid int) { wait4(pid) }
