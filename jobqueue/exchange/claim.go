package exchange

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// Claim asks for waiting jobs. Groups take turns. Within a group the counting
// scheme chooses between high and low priority, and the oldest job goes first.
type Claim struct {
	Limit     int      // at most so many jobs; 0: no claim
	Tasks     []string // only jobs of these tasks
	Groups    []string // only jobs of these groups; none: of all
	Only      []string // only these jobs, as they fail with others; none: all
	Except    []string // not these jobs
	Name      string   // record the last group for the worker of this name, without boot id; empty: do not
	Turn      Turn
	High, Low int    // the counting scheme; both at least 1
	Kinds     []Kind // only these, which an earlier claim found just now; none: find them
}

// Turn says whose turn it is.
type Turn struct {
	Group string // served last
	Phase int    // in the counting scheme: phases 0 to High-1 of each High+Low prefer high priority
}

// Kind is a group and task. Among waiting jobs of one kind, only priority (high or
// low) and age decide which is claimed first.
type Kind struct {
	Group string
	Task  string
	// The limits of its group and of its handler; 0: none.
	GroupMax, HandlerMax int
}

// Candidate is a job that a claim may take.
type Candidate struct {
	JID       string
	Group     string
	High      bool // it has a high priority
	Submitted time.Time
	Limits    []jobqueue.Limit // that the job must keep
}

// lap is 0 for groups whose turn comes before the order starts again.
func (t Turn) lap(group string) int {
	if group > t.Group {
		return 0
	}
	return 1
}

// Order sorts groups, by their bytes, in the order of their turns.
func (t Turn) Order(a, b string) int {
	return cmp.Or(cmp.Compare(t.lap(a), t.lap(b)), cmp.Compare(a, b))
}

// WantedGroups is how many groups a claim looks at: as many as it may take jobs, though groups may
// have no others than those it leaves out.
func (c Claim) WantedGroups() int { return c.Limit + len(c.Except) }

// FirstGroups keeps the kinds of as many groups as are wanted, those whose turn comes first, and
// reports whether there are others.
func (c Claim) FirstGroups(kinds []Kind) (first []Kind, more bool) {
	slices.SortFunc(kinds, func(a, b Kind) int { return c.Turn.Order(a.Group, b.Group) })
	groups := 0
	for i, k := range kinds {
		if i == 0 || k.Group != kinds[i-1].Group {
			groups++
		}
		if groups > c.WantedGroups() {
			return kinds[:i], true
		}
	}
	return kinds, false
}

// Choose returns the jobs to take, and the turn after them. running counts the jobs
// that run, of each scope that has a limit. Jobs beyond a limit are left out.
//
// Groups take turns in the order of their bytes, beginning after the one served
// last and wrapping around. Each group goes through the counting scheme turn by
// turn: in a turn that prefers jobs of a priority of which there are none, the
// other kind goes. The phase counts how often the order started again.
func (c Claim) Choose(candidates []Candidate, running map[jobqueue.Scope]int) (jids []string, next Turn) {
	next = c.Turn
	busy := load{}
	maps.Copy(busy, running)
	queues := map[string]*queue{}
	for _, job := range candidates {
		q := queues[job.Group]
		if q == nil {
			q = &queue{}
			queues[job.Group] = q
		}
		q.add(job)
	}
	groups := slices.SortedFunc(maps.Keys(queues), c.Turn.Order)
	for _, q := range queues {
		q.sort()
	}
	scheme := c.High + c.Low
	for round := 0; len(jids) < c.Limit && len(groups) > 0; round++ {
		left := groups[:0]
		for _, group := range groups {
			if len(jids) == c.Limit {
				break
			}
			if queues[group].leaveOut(busy); queues[group].left() == 0 {
				continue
			}
			phase := (c.Turn.Phase + c.Turn.lap(group) + round) % scheme
			job := queues[group].take(phase < c.High)
			busy.add(job)
			jids = append(jids, job.JID)
			next = Turn{Group: group, Phase: phase}
			if queues[group].left() > 0 {
				left = append(left, group)
			}
		}
		groups = left
	}
	return jids, next
}

// queue are the candidates of a group.
type queue struct{ high, low []Candidate }

func (q *queue) add(job Candidate) {
	if job.High {
		q.high = append(q.high, job)
	} else {
		q.low = append(q.low, job)
	}
}

func (q *queue) sort() {
	older := func(a, b Candidate) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.JID, b.JID))
	}
	slices.SortFunc(q.high, older)
	slices.SortFunc(q.low, older)
}

func (q *queue) left() int { return len(q.high) + len(q.low) }

// leaveOut removes the oldest jobs as far as they are beyond a limit.
func (q *queue) leaveOut(busy load) {
	for _, list := range []*[]Candidate{&q.high, &q.low} {
		for len(*list) > 0 && !busy.allows((*list)[0]) {
			*list = (*list)[1:]
		}
	}
}

// take removes the oldest job of the preferred priority, or else of the other.
func (q *queue) take(high bool) Candidate {
	from := &q.low
	if high && len(q.high) > 0 || len(q.low) == 0 {
		from = &q.high
	}
	job := (*from)[0]
	*from = (*from)[1:]
	return job
}

// load counts the running jobs of scopes while a claim chooses.
type load map[jobqueue.Scope]int

// allows reports whether the job may begin.
func (l load) allows(job Candidate) bool {
	for _, limit := range job.Limits {
		if l[limit.Scope] >= limit.Max {
			return false
		}
	}
	return true
}

func (l load) add(job Candidate) {
	for _, limit := range job.Limits {
		l[limit.Scope]++
	}
}

// PendingStates are the states of jobs that are not final, as a list for IN. The
// partial indexes over jobs are written with the same list, in the same order.
const PendingStates = "('waiting', 'scheduled', 'running', 'stuck')"
