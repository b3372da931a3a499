package executor

import "time"

// maxGather limits how long the ends of jobs that have just begun are gathered,
// so that short jobs are recorded and replaced together.
const maxGather = 5 * time.Millisecond

// gather delays the next sync while jobs that the last claim began may end soon.
type gather struct {
	round int       // number of claims
	size  int       // jobs of the last one
	fresh int       // those that have not ended
	until time.Time // how long to wait for them
}

// begun starts a round of n jobs. The wait may save a transaction, so it is no
// longer than one took.
func (g *gather) begun(n int, took time.Duration) {
	g.round++
	g.size, g.fresh = n, n
	g.until = time.Time{}
	if n > 1 {
		g.until = time.Now().Add(min(took, maxGather))
	}
}

// ended says that a job of a round has ended.
func (g *gather) ended(round int) {
	if round == g.round {
		g.fresh--
	}
}

// short reports whether most jobs of the last round have ended.
func (g *gather) short() bool { return g.fresh <= g.size/2 }

// waits reports whether to wait for more jobs to end.
func (g *gather) waits(now time.Time) bool { return g.fresh > 0 && g.until.After(now) }
