package state

import "claw/state/external"

// OpenDispatches are the dispatches that have not ended, in the order of their
// acceptance. Where there are none, those that have ended are not decoded: a
// thousand of them are kept for their keys.
func OpenDispatches(tx *Tx) ([]external.Dispatch, error) {
	any := false
	for _, s := range [...]external.Status{external.Queued, external.Running} {
		has, err := Dispatches.Mentions(tx, `"status":"`+string(s)+`"`)
		if err != nil {
			return nil, err
		}
		any = any || has
	}
	if !any {
		return nil, nil
	}
	rows, err := Dispatches.All(tx)
	var open []external.Dispatch
	for _, row := range rows {
		if !row.Rec.Status.Ended() {
			open = append(open, row.Rec)
		}
	}
	return open, err
}
