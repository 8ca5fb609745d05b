package process

import "slices"

// Clone is a copy that shares nothing that could be changed through it.
func (p Process) Clone() Process {
	p.Argv, p.Warnings, p.Leftover, p.Tools = slices.Clone(p.Argv), slices.Clone(p.Warnings), slices.Clone(p.Leftover), slices.Clone(p.Tools)
	if p.Exit != nil {
		exit := *p.Exit
		if exit.Code != nil {
			code := *exit.Code
			exit.Code = &code
		}
		p.Exit = &exit
	}
	return p
}
