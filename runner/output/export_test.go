package output

// Disk is the real file system, for tests that put faults in front of it.
var Disk FS = disk{}
