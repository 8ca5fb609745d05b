package proc_test

// The helpers that need /proc or a subreaper.
func deadLeader() int       { return 2 }
func terminateHelper() int  { return 2 }
func startHelper() int      { return 2 }
func spawnShellHelper() int { return 2 }
