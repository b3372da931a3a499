package jobqueue

import (
	"cmp"
	"time"
)

// Compare orders jobs by priority, the higher first, then by age, the older
// first.
func (j Job) Compare(other Job) int {
	return cmp.Or(cmp.Compare(other.Priority, j.Priority), j.Submitted.Compare(other.Submitted),
		cmp.Compare(j.JID, other.JID))
}

// Next returns the group that was served last and the next phase once the
// claim got these jobs.
//
// Groups take turns in the order of their bytes, beginning after c.Group and
// wrapping around once. In one claim they may have several turns, so the group
// served last is among those that got most jobs. The phase counts how often
// the round has begun anew; so each group goes through the counting scheme
// turn by turn, however many groups there are.
func (c Claim) Next(jobs []Job) (group string, phase int) {
	if len(jobs) == 0 {
		return c.Group, c.Phase
	}
	turns := map[string]int{}
	for _, job := range jobs {
		turns[job.Group]++
	}
	lap := func(group string) int {
		if group > c.Group {
			return 0
		}
		return 1
	}
	most := 0
	for name, n := range turns {
		later := cmp.Or(cmp.Compare(n, most), cmp.Compare(lap(name), lap(group)), cmp.Compare(name, group))
		if most == 0 || later > 0 {
			group, most = name, n
		}
	}
	return group, (c.Phase + most - 1 + lap(group)) % (c.High + c.Low)
}

// Judge returns the transition of a job whose lease has ended.
func (r Rules) Judge(job Job) Ending {
	end := Ending{JID: job.JID, From: job.State, To: Waiting, Interrupted: job.State == Running}
	message := "interrupted: worker " + job.Worker + " gave no sign of life for " + r.Lease.Round(time.Second).String()
	switch {
	case !job.Cancel.IsZero():
		end.To, end.Result = Cancelled, "cancelled; "+message
	case end.Interrupted && job.Interrupts >= max(r.MaxInterrupts, 0):
		end.To, end.Result = Failed, message+", too often to try again"
	}
	if end.Interrupted || end.To != Waiting {
		end.Lines = []Line{newLine(job.JID, Warn, cmp.Or(end.Result, message))}
	}
	return end
}
