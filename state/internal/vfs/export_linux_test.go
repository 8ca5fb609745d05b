package vfs

// What the table tests of the Linux file look at.
var (
	NetworkMagic = networkMagic
	MountLine    = mountLine
	RemoteFuse   = remoteFuse
	DevString    = devString
)
