package reasons_test

import (
	"testing"

	"github.com/nextrun/nextrun/periodic/reasons"
)

// A tick that somebody ran or backfilled is marked. One that a timer or a queue made is not.
func TestTicksThatPeopleAskedForAreKnown(t *testing.T) {
	for reason, want := range map[string]string{
		"": "",
		"the job of 02:00:00 UTC is still waiting": "",
		reasons.ByHand: "run by hand",
		"moved from 2026-01-01; " + reasons.ByHand: "run by hand",
		reasons.Backfilled:                         "backfilled",
		"paused by grace: backfilled later":        "",
	} {
		if got := reasons.Hand(reason); got != want {
			t.Errorf("reason %q: %q, want %q", reason, got, want)
		}
	}
}

// What was recorded in the present, when a tick was decided, is read later. A reason that somebody gave stays as it is.
func TestReasonsAreOfTheirTime(t *testing.T) {
	for recorded, want := range map[string]string{
		"the job of 02:00:00 UTC is still waiting (job 7)":                  "the job of 02:00:00 UTC was still waiting (job 7)",
		"the job of 02:00:00 UTC has not ended after 1 h (job 7)":           "the job of 02:00:00 UTC had not ended after 1 h (job 7)",
		"a job of the task is not final":                                    "a job of the task was not final",
		"paused by grace since 2026-01-01 00:00:00 UTC: it is still broken": "paused by grace since 2026-01-01 00:00:00 UTC: it is still broken",
		"waits: the job of 02:00:00 UTC is still running (job 7)":           "waits: the job of 02:00:00 UTC is still running (job 7)",
	} {
		if got := reasons.Then(recorded); got != want {
			t.Errorf("%q became %q, want %q", recorded, got, want)
		}
	}
}
