package days

import (
	"strings"
	"time"
)

// leftOut begins the reason of a tick that somebody skips.
const leftOut = "left out "

// LeftOut is a tick to come that somebody leaves out: a row of periodic_tick that is written ahead, and not
// decided yet.
type LeftOut struct {
	Due    time.Time `json:"due"`
	Reason string    `json:"reason"` // in words, for people
}

// Text is the reason of the tick once it is decided.
func (s LeftOut) Text() string {
	switch {
	case strings.HasPrefix(s.Reason, leftOut):
		return s.Reason
	case s.Reason == "":
		return leftOut + "by hand"
	}
	return leftOut + "by hand: " + s.Reason
}

// LeftOutBy is a reason for a skip: who leaves the tick out, and why. Both may be empty.
func LeftOutBy(who, why string) string {
	if who == "" {
		who = "hand"
	}
	if why != "" {
		who += ": " + why
	}
	return leftOut + "by " + who
}
