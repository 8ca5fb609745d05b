package wake

// RemoteError says that a directory lies on a file system whose changes come
// from elsewhere too, of which this kernel is not told: it is looked at every
// two seconds.
type RemoteError struct {
	Dir  string
	Kind string // "NFS"
}

// Error names the file system.
func (e *RemoteError) Error() string {
	return e.Dir + " is on " + e.Kind + ", where the kernel does not tell of all changes"
}

// Remedy says what would be faster.
func (e *RemoteError) Remedy() string {
	return "it is looked at every two seconds; watch a local directory to be told at once"
}
