package executor

import "time"

// maxReportDelay limits how long to wait for the ends of jobs that have just begun, so that
// short jobs are recorded and replaced together.
const maxReportDelay = 5 * time.Millisecond

// reportDelay delays the next sync while jobs that the last claim began may end soon.
type reportDelay struct {
	claim   int       // number of the last claim
	began   int       // jobs that it began
	running int       // those whose handlers have not returned
	until   time.Time // how long to wait for them
}

// claimed says that a claim has begun n jobs. The wait may save a transaction, so it is no
// longer than that of the claim took.
func (d *reportDelay) claimed(n int, took time.Duration) {
	d.claim++
	d.began, d.running = n, n
	d.until = time.Time{}
	if n > 1 {
		d.until = time.Now().Add(min(took, maxReportDelay))
	}
}

// returned says that a handler has returned, whose job that claim began.
func (d *reportDelay) returned(claim int) {
	if claim == d.claim {
		d.running--
	}
}

// mostReturned reports whether most handlers of the last claim have returned.
func (d *reportDelay) mostReturned() bool { return d.running <= d.began/2 }

// waits reports whether to wait for more handlers to return.
func (d *reportDelay) waits(now time.Time) bool { return d.running > 0 && d.until.After(now) }
