package deliver

import (
	"context"
	"strings"
	"time"

	"claw/state/delivery"
)

// reconcile asks a channel whether an attempt of unknown outcome has arrived;
// see delivery.ReadAnswer. Only not_sent lets it be sent again. What it said
// stays in the row, for whoever wonders why it is still unknown.
func (f *flush) reconcile(ctx context.Context, ch Channel, d delivery.Delivery) (delivery.Delivery, error) {
	answer, receipt, said := f.ask(ch, d)
	got, changed, err := f.rewrite(context.WithoutCancel(ctx), d.ID, func(now delivery.Delivery, at time.Time) (delivery.Delivery, bool, error) {
		if now.State != delivery.Unknown || now.Asked != d.Asked || !now.AttemptedAt.Equal(d.AttemptedAt) {
			return now, false, nil
		}
		now.Answer = said
		next, err := settled(now, answer, receipt, at)
		return next, true, err
	})
	f.count(got, changed && err == nil && got.State != delivery.Unknown)
	return got, err
}

// ask runs the channel's reconcile program. said is what it printed, or what
// became of it where that counts for nothing.
func (f *flush) ask(ch Channel, d delivery.Delivery) (answer delivery.Answer, receipt, said string) {
	prog, not := f.program(ch, d, ch.Reconcile)
	if not != nil {
		return delivery.AnswerUnresolved, "", not.why
	}
	prog.Stdin = endLine(d.Text)
	e := run(prog)
	switch {
	case e.exit.Code != 0 || e.exit.Signalled || e.exit.TimedOut || !e.exit.Started:
		return delivery.AnswerUnresolved, "", e.why()
	case e.stdout == "":
		return delivery.AnswerUnresolved, "", withCause("it printed nothing", lastLines(e.stderr))
	}
	answer, receipt = delivery.ReadAnswer(e.stdout)
	return answer, receipt, e.stdout
}

func settled(d delivery.Delivery, answer delivery.Answer, receipt string, now time.Time) (delivery.Delivery, error) {
	switch answer {
	case delivery.AnswerSent:
		return delivery.Succeed(d, strings.TrimSpace("reconciled "+receipt), now)
	case delivery.AnswerNotSent:
		return delivery.Refute(d, "the channel says that it was not sent", now)
	}
	return delivery.Unresolved(d, now)
}
