package queues

import "time"

// Submission and Open stand in for those of package backend until these exist.
type (
	Submission struct {
		JID, Ref, Refused string
		Passing           bool
	}
	Open struct {
		TaskID, JID, Ref string
		Due, Submitted   time.Time
	}
)
