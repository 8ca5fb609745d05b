package recovery

import (
	"errors"

	"claw/runner/wake"
)

// isRemote tells a directory on another machine.
func isRemote(err error, as **wake.RemoteError) bool { return errors.As(err, as) }

// remote tells of a state directory that was accepted although its locks
// cannot be trusted.
func (x *exam) remote() {
	if why := (*wake.RemoteError)(nil); isRemote(wake.Remote(x.Dir), &why) {
		x.add("fs_network", x.Dir, "it is on "+why.Kind+", and was accepted as it is: two machines may both believe that they hold a lock", "mv "+x.Dir+" to a local disk, and take unsafeFs away")
	}
}
