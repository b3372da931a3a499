package audit

// hooked is the handler that has hooks: on_failure and on_missed.
const hooked = "broken"

// auditHooks wants that hooks heard once of each job that has failed and of each tick that was missed or late, and of nothing else.
func (s *story) auditHooks(told []Told, found *Findings) {
	heard := map[string]int{}
	for _, n := range told {
		about := moment(n.Tick.Due)
		if n.Job.ID != "" {
			about = n.Job.ID
		}
		heard[n.Event+" "+about]++
	}
	expect := func(what string, must bool) {
		if n := heard[what]; n > 1 || n == 0 && must {
			found.Add("a hook did not hear once", s.id, "%d times of %s", n, what)
		}
		found.Counts["what hooks heard"] += heard[what]
		delete(heard, what)
	}
	for jid, j := range s.jobs {
		if j.handler == hooked && j.state == "failed" {
			expect("failure "+jid, true)
		}
	}
	for _, t := range s.ticks { // a task that was deleted does not tell its handler
		if t.decision == "missed" || t.decision == "late" {
			if s.policy == nil || s.policy.handler == hooked {
				expect("missed "+moment(t.due), s.policy != nil)
			}
		}
	}
	for what := range heard {
		found.Add("a hook heard of what did not happen", s.id, "%s", what)
	}
}
