package engine

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

func TestWhatFollowsForAnAttempt(t *testing.T) {
	const me, other = "w/1", "w/2"
	for _, c := range []struct {
		what   string
		phase  phase
		to     backend.State // phase ending
		state  backend.State // of the job now
		worker string
		cancel bool
		want   step
	}{
		{"it runs", running, "", backend.Running, me, false, keep},
		{"it is to be cancelled", running, "", backend.Running, me, true, stop},
		{"another worker has it", running, "", backend.Running, other, false, lose},
		{"another worker is to cancel it", running, "", backend.Running, other, true, lose},
		{"it waits again", running, "", backend.Waiting, "", false, lose},
		{"somebody ended it", running, "", backend.Cancelled, me, false, lose},
		{"somebody set it back", running, "", backend.Scheduled, me, false, lose},
		{"it is gone", running, "", "", "", false, lose},

		{"its end is not recorded", ending, backend.Success, backend.Running, me, false, keep},
		{"its end was recorded, but the reply was lost", ending, backend.Success, backend.Success, me, false, settle},
		{"it was put back, but the reply was lost", ending, backend.Waiting, backend.Waiting, "", false, settle},
		{"it is stuck, but the reply was lost", ending, backend.Stuck, backend.Stuck, me, false, settle},
		{"it was put back, and another has it", ending, backend.Waiting, backend.Running, other, false, lose},
		{"another has ended it", ending, backend.Success, backend.Success, other, false, lose},
		{"it failed, and is to be cancelled", ending, backend.Stuck, backend.Running, me, true, turnCancel},
		{"it is to be put back, and to be cancelled", ending, backend.Waiting, backend.Running, me, true, turnCancel},
		{"it succeeded, and is to be cancelled", ending, backend.Success, backend.Running, me, true, keep},
		{"it failed for good, and is to be cancelled", ending, backend.Failed, backend.Running, me, true, keep},
		{"it ended, and is gone", ending, backend.Success, "", "", false, lose},

		{"it was lost before", lost, "", backend.Running, other, false, keep},
		{"it was lost, and came back", lost, "", backend.Running, me, true, keep},
	} {
		a := &attempt{phase: c.phase, end: backend.Transition{From: backend.Running, To: c.to}}
		if got := a.after(backend.JobStatus{State: c.state, Worker: c.worker, Cancel: c.cancel}, me); got != c.want {
			t.Errorf("%s: step %d, want %d", c.what, got, c.want)
		}
	}
}
