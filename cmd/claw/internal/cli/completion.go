package cli

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish." placeholder:"SHELL"`
}

// Help shows examples.
func (completionCmd) Help() string {
	return examples(`eval "$(claw completion bash)"`, "claw completion fish > ~/.config/fish/completions/claw.fish")
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error { return nil }

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints candidates.
func (c *completeCmd) Run(a *app) error { return nil }
