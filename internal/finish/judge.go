package finish

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/span"
)

// State is what is known of a tick that has to finish by a time.
type State string

// The states. Kept, Late and Unknown stay.
const (
	Open    State = ""
	AtRisk  State = "at risk" // it will be late, as far as is known
	Kept    State = "kept"    // its job has succeeded in time
	Late    State = "late"    // it has not
	Unknown State = "unknown" // nobody knows how its job ended
)

// Facts is what a verdict about a tick depends on.
type Facts struct {
	Now, Due, By time.Time
	Decision     string // of the tick
	Reason       string // why it was decided so
	Before       State  // what has been found before
	Why          string // likewise

	Job       bool   // its job is in nextrun's own queue
	Awaited   bool   // its job is in another queue, which has not told how it ended
	State     string // of the job; in another queue only of one that has ended
	Said      string // what the job said when it failed
	Submitted time.Time
	Started   time.Time // the last attempt; zero: it has not begun, or its queue does not tell
	Ended     time.Time

	Usual time.Duration // how long runs take that succeed
	Runs  int           // so many of them say that
}

// Verdict is what a scheduler records of a tick.
type Verdict struct {
	State State
	Why   string    // why it is at risk, late or unknown
	Ended time.Time // when its job ended; zero: it has not
	Look  time.Time // when to judge again; zero: not any more
}

// LeastRuns is how many successes there have to be before anything is predicted from them, and MostRuns how many
// are regarded.
const (
	LeastRuns = 5
	MostRuns  = 20
)

// Usual is the median of how long runs took that succeeded.
func Usual(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// Judge says what is known of a tick now. A tick is kept if its job has succeeded by then, in whatever attempt.
func Judge(f Facts) Verdict {
	v := Verdict{Ended: f.ended()}
	switch {
	case f.Before == Late: // only the end is still to be seen
		if v.State, v.Why = Late, f.Why; !f.settled() {
			v.Look = f.Now.Add(max(time.Minute, f.Now.Sub(f.By)/4))
		}
	case f.State == "success" && !f.Ended.After(f.By):
		v.State = Kept
	case f.untold():
		v.State, v.Why = Unknown, "nobody knows how its job ended: its queue does not tell, or the job was deleted"
	case !f.Now.Before(f.By):
		if v.State, v.Why = Late, f.what(); !f.settled() {
			v.Look = f.Now.Add(time.Minute)
		}
	default:
		v.State, v.Why, v.Look = f.risk()
	}
	return v
}

func (f *Facts) submitted() bool { return f.Decision == "submitted" }

// settled reports whether nothing more comes, unless somebody has the job run again.
func (f *Facts) settled() bool {
	return !f.submitted() && f.Decision != "queued" || f.final() || !f.Job && !f.Awaited && f.submitted()
}

func (f *Facts) final() bool {
	return f.State == "success" || f.State == "failed" || f.State == "cancelled"
}

func (f *Facts) untold() bool {
	return f.submitted() && (f.State == "unknown" || f.State == "" && !f.Job && !f.Awaited)
}

func (f *Facts) ended() time.Time {
	if f.final() {
		return f.Ended
	}
	return time.Time{}
}

// risk says whether the tick will be late, and if nobody can say yet, when to look again. A job that runs for longer than
// usual is expected to end as if it began now. Whether a job in another queue has begun is not known.
func (f *Facts) risk() (State, string, time.Time) {
	began := f.Started
	if f.Awaited {
		began = f.Submitted
	}
	at := f.By.Add(-f.Usual) // whatever has not begun by then will be late
	switch expected := began.Add(f.Usual); {
	case f.settled():
		return AtRisk, f.what(), f.By
	case f.Before == AtRisk: // it was told
		return AtRisk, f.Why, f.By
	case f.Runs < LeastRuns:
		return Open, "", f.By
	case began.IsZero():
	case expected.After(f.By):
		at = f.Now
	case expected.After(at):
		at = expected
	}
	if f.Now.Before(at) {
		return Open, "", at
	}
	return AtRisk, f.what() + "; it usually takes " + span.Text(f.Usual), f.By
}

// what says what became of the tick.
func (f *Facts) what() string {
	said := ""
	if text := strings.TrimSpace(cmp.Or(f.Said, f.Reason)); text != "" {
		said = ": " + text
	}
	switch {
	case f.Decision == "queued":
		return "it has no job yet" + said
	case f.Decision == "late":
		return "it got no job, for it was decided too late" + said
	case !f.submitted():
		return "it was " + f.Decision + said
	case f.State == "success":
		return "its job ended at " + moment(f.Ended) + ", " + span.Text(f.Ended.Sub(f.By)) + " too late"
	case f.State == "failed":
		return "its job failed at " + moment(f.Ended) + said
	case f.State == "cancelled":
		return "its job was cancelled at " + moment(f.Ended)
	case f.State == "running":
		return "its job has run since " + moment(f.Started)
	case f.State == "stuck":
		return "its job waits for its next attempt, because one has failed" + said
	case f.Awaited:
		return "its job, submitted at " + moment(f.Submitted) + ", has not ended"
	}
	return "its job has waited in the queue since " + moment(f.Submitted)
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
