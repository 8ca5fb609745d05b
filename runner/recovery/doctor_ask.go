package recovery

import (
	"context"
	"time"

	"claw/runner/internal/program"
	"claw/state/process"
)

// question is something that may never be answered: it asks the machine, or
// looks at files anywhere.
type question struct {
	about string // for the finding when there is no answer
	ask   func(ctx context.Context) []Finding
}

// inquiry are questions that have been asked.
type inquiry struct {
	about   []string
	answer  []chan []Finding
	expired <-chan struct{}
	forget  context.CancelFunc
}

// patience is how long the machine may take to answer, and limit how long a
// program may run: what is told to end has the rest of the time to do it.
func (d *Doctor) patience() time.Duration {
	if d.Patience > 0 {
		return d.Patience
	}
	return 2 * time.Second
}

func (d *Doctor) limit() time.Duration { return d.patience() * 2 / 5 }

// ask asks all questions at once. A goroutine that never comes back, because it
// waits for a dead disk, is left behind.
func (x *exam) ask(all ...question) *inquiry {
	ctx, forget := context.WithTimeout(x.ctx, x.patience())
	q := &inquiry{expired: ctx.Done(), forget: forget}
	for _, one := range all {
		c := make(chan []Finding, 1)
		q.about, q.answer = append(q.about, one.about), append(q.answer, c)
		go func() { c <- one.ask(ctx) }()
	}
	return q
}

// answers waits for them, until the time is up.
func (q *inquiry) answers() []Finding {
	defer q.forget()
	var all []Finding
	for i, c := range q.answer {
		select {
		case found := <-c:
			all = append(all, found...)
			continue
		default:
		}
		select {
		case found := <-c:
			all = append(all, found...)
		case <-q.expired:
			all = append(all, Found("no_answer", q.about[i], "it does not answer, and was not waited for", "df and mount show a network disk that is dead"))
		}
	}
	return all
}

// said is what a program had to say.
type said struct {
	text   string
	code   int
	absent bool // there is no such program
	silent bool // it did not end in time
}

func (s said) ok() bool { return !s.absent && !s.silent && s.code == 0 }

// output runs a program to its end, at most for limit.
func (d *Doctor) output(ctx context.Context, argv ...string) said {
	r := program.Run(ctx, program.Spec{
		Argv: argv, Env: d.Environ, Dir: "/", Limit: d.limit(), Stdout: program.Keep{Head: 256 << 10}, Stderr: program.Keep{Head: 1 << 10},
	})
	return said{text: string(r.Stdout), code: r.Code, absent: !r.Started, silent: r.Started && (r.TimedOut || r.Err != nil)}
}

// noAnswer is the finding for a program that did not end in time.
func (d *Doctor) noAnswer(name string) Finding {
	return Found("no_answer", name, "it did not end within "+process.HumanDuration(d.limit())+", and was ended", "run "+name+" by hand to see what it waits for")
}
