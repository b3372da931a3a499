package backend

// LimitKind says which jobs a limit counts.
type LimitKind string

// The kinds of limits.
const (
	LimitGroup   LimitKind = "group"   // those of a group
	LimitTask    LimitKind = "task"    // those of a task
	LimitTracker LimitKind = "tracker" // those of a tracker that have [Limits.Concurrency]
)

// Scope names the jobs that a limit counts.
type Scope struct {
	Kind LimitKind
	Name string
}

// Limit bounds how many jobs of a group or a task run at once, over all executors.
type Limit struct {
	Scope
	Most    int
	Running int // how many do, where a limit is read
}

// load counts the running jobs of scopes while a claim chooses.
type load map[Scope]int

// allows reports whether the job may begin.
func (l load) allows(job Candidate) bool {
	for _, limit := range job.Limits {
		if l[limit.Scope] >= limit.Most {
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
