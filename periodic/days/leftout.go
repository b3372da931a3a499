package days

import "time"

// LeftOut is a tick to come that somebody leaves out: a row of periodic_tick that is written ahead, and not
// decided yet.
type LeftOut struct {
	Due    time.Time `json:"due"`
	Reason string    `json:"reason"` // who leaves it out, and why: see [Note]
}

// Note says who did something, and why. Both may be empty.
func Note(who, why string) string {
	if who != "" && why != "" {
		return who + ": " + why
	}
	return who + why
}
