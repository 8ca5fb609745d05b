package automation

import "time"

// Booted is what follows for a boot automation (@reboot) from the machine being
// up: a run, once for each boot. boot is the id of the boot, up when the machine
// came up, zero if that is not known. One that was made or switched on during
// this boot is not owed it. Turns of agents wait until two minutes after the
// boot (2.10). A run of nil and a source like src: nothing to write.
func Booted(a Automation, src Source, boot string, up, now time.Time) Fired {
	if boot == "" || src.Boot == boot {
		return Fired{Automation: a, Source: src}
	}
	src.Boot = boot
	if up.IsZero() || !a.State.Settled.Before(up) {
		return Fired{Automation: a, Source: src}
	}
	src.FiredAt = now
	run := Fire(a, BootRunID(a.ID, boot), now)
	if since := now.Sub(up); a.held() && since >= 0 && since < BootHold {
		run.NotBefore, run.Code, run.Why = up.Add(BootHold), CodeBoot, "the machine has only just come up"
	}
	return Fired{Automation: a, Source: src, Run: &run}
}

// BootRunID is the id of the run for one boot: it can be recorded once.
func BootRunID(automation, boot string) string { return automation + "@boot-" + boot }
