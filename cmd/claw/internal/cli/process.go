package cli

import (
	"time"

	"claw/runner/control"
)

// processCmd is `claw process`; seed 002, spec/exec-process.md section 2.
type processCmd struct {
	List     processList     `cmd:"" aliases:"ls" help:"Show what runs and what has finished lately, newest first."`
	Poll     processPoll     `cmd:"" help:"Show what is new since the last poll, and whether it still runs."`
	Log      processLog      `cmd:"" help:"Show the output, all of it or a part."`
	Write    processWrite    `cmd:"" help:"Type text into it, as it is."`
	SendKeys processSendKeys `cmd:"" name:"send-keys" help:"Send keys: C-c, Enter, Up, F5, text."`
	Submit   processSubmit   `cmd:"" help:"Press Enter."`
	Paste    processPaste    `cmd:"" help:"Paste text, in brackets as a terminal does."`
	Kill     processKill     `cmd:"" help:"End it and all that it started: TERM, five seconds, KILL."`
	Clear    processClear    `cmd:"" help:"Take a finished one out of the list."`
	Remove   processRemove   `cmd:"" aliases:"rm" help:"End it if it runs, and take it out of the list with its output."`
	Wait     processWait     `cmd:"" help:"Wait for the end and exit with the command's own code."`
}

// Help shows examples.
func (processCmd) Help() string {
	return "An action names its process by the id that claw exec printed, by four or more characters from the beginning of it, or by --last.\n\n" +
		examples("claw process list", "claw process log tide-orbit --follow", "claw process wait --last && ./deploy.sh")
}

// who says which process is meant.
type who struct {
	ID        string `arg:"" optional:"" help:"Its id, or the first four or more characters of it." placeholder:"ID"`
	Last      bool   `help:"The one that was started last."`
	Agent     string `help:"Look among the processes of this agent; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	AllAgents bool   `help:"Look among the processes of all agents."`
	JSON      bool   `name:"json" help:"Print one JSON object."`
}

// session is what the library calls the one that is meant.
func (w who) session(command string) (string, error) {
	switch {
	case w.Last && w.ID != "":
		return "", usagef("process " + command + ": --last and an id exclude each other")
	case w.Last:
		return control.Last, nil
	case w.ID == "":
		return "", usagef("process "+command+": which one? sessionId is required for this action.", "claw process list shows their ids", "claw process "+command+" --last takes the newest")
	}
	return w.ID, nil
}

// control opens the state in the name of an agent.
func (a *app) control(agent string, all bool) (*control.Control, error) {
	cfg, store, err := a.opened()
	if err != nil {
		return nil, err
	}
	t := cfg.Tools.Exec
	return &control.Control{
		Store: store, Clock: a.clock, Agent: a.agent(agent), All: all, OnLoss: t.OnSupervisorLoss,
		Wake: cfg.Wake.OnExit, Environ: a.environ,
		Limits: control.Limits{
			OutputChars: t.MaxOutputChars, PendingChars: t.PendingMaxOutputChars,
			InputIdle: time.Duration(t.InputWaitIdleMs) * time.Millisecond,
		},
	}, nil
}

// acting opens everything an action on one process needs.
func (w who) acting(a *app, command string) (*control.Control, string, error) {
	session, err := w.session(command)
	if err != nil {
		return nil, "", err
	}
	c, err := a.control(w.Agent, w.AllAgents)
	return c, session, err
}

// answer shows the result of an action: as JSON on stdout, or its words on
// stderr, where they are out of the way of data.
func (a *app) answer(r control.Result, err error, asJSON bool) error {
	if err != nil {
		return a.refused(err, asJSON)
	}
	if asJSON {
		return a.io.JSON(r.Details)
	}
	a.io.Note(r.Text)
	return nil
}

// refused prints a refusal as JSON where JSON was asked for; the exit code is
// the same.
func (a *app) refused(err error, asJSON bool) error {
	r, ok := control.IsRefused(err)
	if !ok || !asJSON {
		return err
	}
	if jsonErr := a.io.JSON(control.Failure{Status: "failed", Error: r.Text}); jsonErr != nil {
		return jsonErr
	}
	return silent(a.codeOf(err, 0))
}
