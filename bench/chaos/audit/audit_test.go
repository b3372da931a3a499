package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return t0.Add(time.Duration(seconds * float64(time.Second))) }

// good is a minute of a task that is due every ten seconds, in which all went well: two ticks were missed together, one was
// skipped, one was set by hand.
func good() *Facts {
	s := &story{id: "fixed-1", jobs: map[string]*job{}, policy: &policy{overlap: "skip", catchup: "one", sink: "job", handler: "call", grace: time.Minute}}
	f := &Facts{stories: map[string]*story{s.id: s}, rules: map[string][]step{Slow: {{at(-60), Unlimited}}, Closed: {{at(-60), 0}}},
		outside: Outside{Delivered: map[string][]Event{}, Told: map[string]Told{}}}
	plan := func(from, past float64) {
		s.changes = append(s.changes, change{at: at(from - 0.5), due: at(from), timer: "*:*:0/10", enabled: true},
			change{at: at(past - 1), was: at(past), nextrun: unplanned, timer: "*:*:0/10", enabled: true})
	}
	s.changes = append(s.changes, change{at: at(-5), nextrun: unplanned, timer: "*:*:0/10", enabled: true})
	plan(0, 70)
	s.changes[2].at, s.changes[2].nextrun = at(65), at(65)
	plan(70, 80)
	ran := func(due, begin, end float64) {
		jid := fmt.Sprint("job-", due)
		s.ticks = append(s.ticks, tick{due: at(due), decided: at(begin), decision: "submitted", jid: jid})
		s.jobs[jid] = &job{jid: jid, task: s.id, state: "success", due: at(due), submitted: at(begin), finished: at(end), single: true, found: 1}
		f.outside.Runs = append(f.outside.Runs, Run{Job: jid, Task: s.id, Due: at(due).Format(time.RFC3339Nano), Begin: at(begin), End: at(end), Succeeded: true})
	}
	ran(0, 0, 1)
	s.ticks = append(s.ticks, tick{due: at(10), until: at(20), decided: at(31), decision: "missed", missed: 2})
	ran(30, 31, 45)
	s.ticks = append(s.ticks, tick{due: at(40), decided: at(40), decision: "skipped", cause: "overlap"})
	ran(50, 50, 51)
	ran(60, 60, 61)
	ran(65, 65, 66)
	ran(70, 70, 71)
	return f
}

func TestAuditFindsNothingWhereAllIsWell(t *testing.T) {
	found := &Findings{}
	good().Audit(found)
	if len(found.List) > 0 || found.Counts["ticks that the timers had, each accounted for once"] != 8 || found.Counts["ticks that were missed"] != 2 {
		t.Errorf("%+v", found)
	}
}

// A failover lost a job, a hook of it and an event, and that another job has begun, which is one of River's. They are known outside.
func TestAuditAllowsWhatAFailoverLost(t *testing.T) {
	f := good()
	s := f.stories["fixed-1"]
	lost := Run{Job: "lost", Task: s.id, Due: at(50).Format(time.RFC3339), Begin: at(50), End: at(52)}
	began := Run{Job: "job-50", Task: s.id, Due: at(50).Format(time.RFC3339), Begin: at(51), End: at(60.5)}
	f.outside.Runs = append(f.outside.Runs, lost, began)
	f.outside.Told["1"], f.outside.Told["h"] = failure(s.id, "lost"), failure(s.id, "job-50")
	f.outside.Delivered[s.id] = []Event{{"e", s.id, 1}}
	s.jobs["job-50"].handler, s.ticks[4].outcome, f.outside.Runs[2].Succeeded = parcel, "success", false
	before := &Findings{}
	f.Audit(before)
	f.outside.Lost = map[string]bool{"lost": true, "h": true, "e": true}
	f.outside.Rewound = [][2]time.Time{{at(50.5), at(53)}}
	after := &Findings{}
	f.Audit(after)
	if len(before.List) < 7 || len(after.List) > 0 {
		t.Errorf("before %+v, after %+v", before.List, after.List)
	}
}

func failure(task, jid string) (n Told) {
	n.Event, n.Task, n.Job.ID = "failure", task, jid
	return n
}

// Each of these breaks one promise, and the audit has to say so.
func TestAuditFindsWhatIsBroken(t *testing.T) {
	const policies = "a decision against the policy"
	for _, c := range []struct {
		rule   string
		breaks func(f *Facts, s *story)
	}{
		{"a tick is not accounted for", func(_ *Facts, s *story) { s.ticks = slices.Delete(s.ticks, 4, 5) }},
		{"a tick is recorded twice", func(_ *Facts, s *story) {
			s.ticks = append(s.ticks, tick{due: at(20), decided: at(20), decision: "late"})
		}},
		{"a tick that no timer has", func(_ *Facts, s *story) { s.ticks = append(s.ticks, tick{due: at(33), decision: "missed"}) }},
		{"missed ticks are miscounted", func(_ *Facts, s *story) { s.ticks[1].missed = 3 }},
		{"a submitted tick has no job", func(_ *Facts, s *story) { delete(s.jobs, "job-50") }},
		{"a job is for another tick", func(_ *Facts, s *story) { s.jobs["job-50"].due = at(60) }},
		{"the outcome of a tick is not that of its job", func(_ *Facts, s *story) { s.jobs["job-50"].handler, s.ticks[4].outcome = parcel, "failed" }},
		{"two ticks have one job", func(_ *Facts, s *story) { s.ticks[4].jid = "job-60"; s.jobs["job-60"].due = time.Time{} }},
		{"a job without a tick", func(_ *Facts, s *story) {
			s.add(job{jid: "x", state: "success", due: at(50), submitted: at(52), finished: at(53)})
		}},
		{"a job exists twice", func(_ *Facts, s *story) { s.add(job{jid: "job-50"}) }},
		{"a job did not end", func(_ *Facts, s *story) { s.jobs["job-50"].state = "running" }},
		{"a job succeeded that did not run", func(f *Facts, _ *story) { f.outside.Runs[2].Succeeded = false }},
		{"what ran is no job", func(f *Facts, s *story) { f.outside.Runs = append(f.outside.Runs, Run{Job: "x", Task: s.id}) }},
		{"what ran is another tick", func(f *Facts, _ *story) { f.outside.Runs[0].Due = at(10).Format(time.RFC3339) }},
		{"jobs of a task overlap", func(_ *Facts, s *story) { s.jobs["job-50"].finished = at(70) }},
		{"runs of a task overlap", func(f *Facts, _ *story) { f.outside.Runs[2].End = at(62) }},
		{"a plan does not follow from the timer", func(_ *Facts, s *story) { s.changes[1].due = at(10) }},
		{"a decision against the policy", func(_ *Facts, s *story) { s.policy.catchup = "all" }},
		{"a tick that was not submitted has a job", func(_ *Facts, s *story) { s.ticks[3].jid = "job-50" }},
		{"events did not arrive", func(_ *Facts, s *story) { s.add(job{jid: "e1", state: "event"}) }},
		{"events are out of order", func(f *Facts, s *story) { f.outside.Delivered[s.id] = []Event{{"b", s.id, 2}, {"a", s.id, 1}} }},
		{"more runs than a limit allows", func(f *Facts, s *story) { s.jobs["job-50"].handler = "slow"; f.rules[Slow][0].value = 0 }},
		{"a hook did not hear once", func(_ *Facts, s *story) { s.policy.handler = hooked }}, // two missed ticks
		{"a hook did not hear once", func(f *Facts, s *story) {
			s.jobs["job-50"].handler, s.jobs["job-50"].state = hooked, "failed"
			f.outside.Told["1"], f.outside.Told["2"] = failure(s.id, "job-50"), failure(s.id, "job-50")
		}},
		{"a hook heard of what did not happen", func(f *Facts, s *story) { f.outside.Told["1"] = failure(s.id, "job-50") }},
		{"an effect without a job", func(_ *Facts, s *story) { s.effects = append(s.effects, "x") }},
		{"an effect did not happen once", func(_ *Facts, s *story) { s.jobs["job-0"].handler = "book"; s.effects = []string{"job-0", "job-0"} }},
		{policies, func(_ *Facts, s *story) { s.policy.deadline = time.Second; s.ticks[0].decided = at(9) }}, // submitted after its deadline
		{policies, func(_ *Facts, s *story) { s.ticks[3].decision = "late" }},                                // late without a deadline
		{policies, func(_ *Facts, s *story) { s.policy.overlap = "allow" }},                                  // skipped though it may overlap
		{policies, func(_ *Facts, s *story) { s.ticks[3].decided = at(120) }},                                // skipped though nothing was there
		{policies, func(_ *Facts, s *story) { s.ticks[1].decided = at(21) }},                                 // missed though it was the newest
		{policies, func(_ *Facts, s *story) { s.ticks[3].cause = "calendar" }},                               // no calendar left it out
		{policies, func(f *Facts, s *story) { s.policy.calendar = true; f.rules[Closed][0].value = 1 }},      // one did
	} {
		f := good()
		c.breaks(f, f.stories["fixed-1"])
		found := &Findings{}
		f.Audit(found)
		if !slices.ContainsFunc(found.List, func(f Finding) bool { return f.Rule == c.rule }) {
			t.Errorf("%s: it is not in %+v", c.rule, found.List)
		}
	}
}
