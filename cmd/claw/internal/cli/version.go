package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the Makefile; a plain `go build` leaves it empty.
var version string

type versionCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// Help shows examples.
func (versionCmd) Help() string {
	return examples("claw version", "claw version --json | jq -r .version")
}

// Run prints the version.
func (c *versionCmd) Run(a *app) error {
	v := currentVersion()
	if c.JSON {
		return a.io.JSON(map[string]string{"version": v, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintln(a.io.Out, "claw "+v)
	return err
}

func currentVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
