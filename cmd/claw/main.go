// Command claw runs commands in the background, keeps their output and says
// how they ended. See `claw --help`, claw(1) and claw(7).
package main

import (
	"os"

	"claw/cmd/claw/internal/cli"
)

func main() { os.Exit(cli.Main()) }
