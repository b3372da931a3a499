package jobqueue

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

func TestWhatFollowsForAnAttempt(t *testing.T) {
	const me, other = "w/1", "w/2"
	for _, c := range []struct {
		what   string
		phase  phase
		to     State // phase ending
		state  State // of the job now
		worker string
		cancel bool
		want   step
	}{
		{"it runs", running, "", Running, me, false, keep},
		{"it is to be cancelled", running, "", Running, me, true, stop},
		{"another worker has it", running, "", Running, other, false, lose},
		{"another worker is to cancel it", running, "", Running, other, true, lose},
		{"it waits again", running, "", Waiting, "", false, lose},
		{"somebody ended it", running, "", Cancelled, me, false, lose},
		{"somebody set it back", running, "", Scheduled, me, false, lose},
		{"it is gone", running, "", "", "", false, lose},

		{"its end is not recorded", ending, Success, Running, me, false, keep},
		{"its end was recorded, but the reply was lost", ending, Success, Success, me, false, settle},
		{"it was put back, but the reply was lost", ending, Waiting, Waiting, "", false, settle},
		{"it is stuck, but the reply was lost", ending, Stuck, Stuck, me, false, settle},
		{"it was put back, and another has it", ending, Waiting, Running, other, false, lose},
		{"another has ended it", ending, Success, Success, other, false, lose},
		{"it failed, and is to be cancelled", ending, Stuck, Running, me, true, turnCancel},
		{"it is to be put back, and to be cancelled", ending, Waiting, Running, me, true, turnCancel},
		{"it succeeded, and is to be cancelled", ending, Success, Running, me, true, keep},
		{"it failed for good, and is to be cancelled", ending, Failed, Running, me, true, keep},
		{"it ended, and is gone", ending, Success, "", "", false, lose},

		{"it was lost before", lost, "", Running, other, false, keep},
		{"it was lost, and came back", lost, "", Running, me, true, keep},
	} {
		a := &attempt{phase: c.phase, end: backend.Transition{From: Running, To: c.to}}
		if got := a.after(backend.JobStatus{State: c.state, Worker: c.worker, Cancel: c.cancel}, me); got != c.want {
			t.Errorf("%s: step %d, want %d", c.what, got, c.want)
		}
	}
}
