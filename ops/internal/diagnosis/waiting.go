package diagnosis

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/figures"
)

// waiting says why a job that may begin does not: in a clause, with what to do.
func (q *queueFacts) waiting(j *jobqueue.Job) Finding {
	for _, cause := range []func(*jobqueue.Job) (Finding, bool){q.limited, q.noExecutor, q.full} {
		if f, holds := cause(j); holds {
			return f
		}
	}
	if q.unread != nil {
		return Finding{jobUnknown, fmt.Sprintf("which executors run cannot be read: %v", q.unread), "run this as a role that may read the table worker"}
	}
	free := strings.Join(workersOf(q.free(j)), ", ")
	if who, remedy, err := q.holder(j.JID); err == nil && who != "" {
		return Finding{jobLocked, fmt.Sprintf("%s could take it, but its row is locked by %s", free, who), remedy}
	}
	if q.now.Sub(j.Submitted) < waitsLong {
		return Finding{jobWaits, fmt.Sprintf("%s can take it, with a handler %q and a free place", free, j.Task), ""}
	}
	return Finding{jobNotTaken, fmt.Sprintf("%s could take it, with a handler %q and a free place, and has not; the database does not show why", free, j.Task),
		"look at the log of the executor, and ask for its health: nextrun health"}
}

// capable are the executors that run, have its handler, and take jobs of its group.
func (q *queueFacts) capable(j *jobqueue.Job) []figures.Service {
	return filter(q.living(), func(s figures.Service) bool { return handlerOf(&s, j.Task) != nil && takesGroup(&s, j.Group) })
}

func takesGroup(s *figures.Service, group string) bool {
	for _, g := range s.Groups {
		if g == group {
			return true
		}
	}
	return len(s.Groups) == 0
}

// noExecutor: nobody who could take it runs.
func (q *queueFacts) noExecutor(j *jobqueue.Job) (Finding, bool) {
	living := q.living()
	knowing := filter(living, func(s figures.Service) bool { return handlerOf(&s, j.Task) != nil })
	start := "start one: nextrun executor --config FILE"
	switch silent := q.silent(); {
	case q.unread != nil || len(q.capable(j)) > 0:
		return Finding{}, false
	case len(knowing) > 0:
		return Finding{jobNoGroup, fmt.Sprintf("no executor that runs and has a handler %q takes jobs of the group %q", j.Task, j.Group),
			fmt.Sprintf("add %q to `groups` of %s, or start another executor", j.Group, strings.Join(workersOf(knowing), ", "))}, true
	case len(silent) > 0:
		return Finding{jobExecutorUnknown, fmt.Sprintf("it is not known whether an executor with a handler %q runs: %s says nothing about its handlers: it is stopping, or of an older version",
			j.Task, strings.Join(silent, ", ")), start}, true
	case len(living) > 0:
		return Finding{jobNoHandler, fmt.Sprintf("no executor that runs has a handler %q; %s", j.Task, handlersOf(living)),
			fmt.Sprintf("define handlers.%s in the configuration of an executor, or register it in your program", j.Task)}, true
	}
	for _, s := range q.executors {
		if handlerOf(&s, j.Task) != nil {
			return Finding{jobNoExecutor, fmt.Sprintf("no executor runs, as far as the database shows; %s, which had a handler %q, seems to have ended", s.Worker, j.Task), start}, true
		}
	}
	return Finding{jobNoExecutor, "no executor runs, as far as the database shows", start}, true
}

// limited: as many jobs run as a limit allows, or somebody has paused them.
func (q *queueFacts) limited(j *jobqueue.Job) (Finding, bool) {
	for _, l := range q.limits {
		same := func(j *jobqueue.Job) bool { return counts(l.Scope, j) }
		what, change := fmt.Sprintf("the %s %q", l.Kind, l.Name), fmt.Sprintf("nextrun job limit %s %s", l.Kind, l.Name)
		switch {
		case !same(j) || l.Running < l.Max:
		case l.Max == 0:
			return Finding{jobPaused, what + " is paused", "to end the pause: " + change + " --remove"}, true
		default:
			return Finding{jobLimit, q.limitText(what, l.Running, l.Max, same), "to allow more: " + change + " NUMBER"}, true
		}
	}
	return Finding{}, false
}

// counts reports whether a job is one of those that a limit counts.
func counts(s jobqueue.Scope, j *jobqueue.Job) bool {
	switch s.Kind {
	case jobqueue.ScopeGroup:
		return j.Group == s.Name
	case jobqueue.ScopeHandler:
		return j.Task == s.Name
	}
	return j.Tracker == s.Name
}

// limitText says that n jobs of something run, which ones, and how many may.
func (q *queueFacts) limitText(what string, n, most int, same func(*jobqueue.Job) bool) string {
	return fmt.Sprintf("%s may run %s at once, and %d run%s: %s", what, counted(most, "job"), n, map[bool]string{true: "s"}[n == 1], q.naming(q.those(same)))
}

// free are the executors that could take the job, and have a place for it.
func (q *queueFacts) free(j *jobqueue.Job) []figures.Service {
	return filter(q.capable(j), func(s figures.Service) bool { return len(q.on(s.Worker)) < s.Places })
}

func (q *queueFacts) on(worker string) []jobqueue.Job {
	return q.those(func(j *jobqueue.Job) bool { return j.Worker == worker })
}

// full: all places of those who could take it are taken.
func (q *queueFacts) full(j *jobqueue.Job) (Finding, bool) {
	capable := q.capable(j)
	if len(capable) == 0 || len(q.free(j)) > 0 {
		return Finding{}, false
	}
	places := 0
	for _, s := range capable {
		places += s.Places
	}
	busy := q.those(func(other *jobqueue.Job) bool {
		for _, s := range capable {
			if s.Worker == other.Worker {
				return true
			}
		}
		return false
	})
	all := fmt.Sprintf("all %d places of %s are taken", places, strings.Join(workersOf(capable), ", "))
	if places == 1 {
		all = "the only place of " + capable[0].Worker + " is taken"
	}
	return Finding{jobNoPlace, all + ": by " + q.naming(busy),
		"wait for one of them, raise `pool_size`, or start another executor"}, true
}

// mostNamed is how many jobs, or workers, a sentence names.
const mostNamed = 3

// naming names the jobs that have run longest.
func (q *queueFacts) naming(jobs []jobqueue.Job) string {
	var names []string
	for i, j := range jobs {
		if i == mostNamed {
			names = append(names, fmt.Sprintf("and %d more", len(jobs)-i))
			break
		}
		name := "job " + j.JID + " (handler " + j.Task
		if j.Tracker != "" {
			name += ", task " + j.Tracker
		}
		if name += ")"; !j.Started.IsZero() {
			name += " for " + text.Text(q.now.Sub(j.Started))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func workersOf(list []figures.Service) (names []string) {
	for i, s := range list {
		if i == mostNamed {
			return append(names, fmt.Sprintf("%d more", len(list)-i))
		}
		names = append(names, s.Worker)
	}
	return names
}

// handlersOf says which handlers executors have.
func handlersOf(list []figures.Service) string {
	var texts []string
	for i, s := range list {
		if i == mostNamed {
			texts = append(texts, fmt.Sprintf("there are %d more", len(list)-i))
			break
		}
		var names []string
		for _, h := range s.Handlers {
			names = append(names, h.Name)
		}
		texts = append(texts, s.Worker+" has "+strings.Join(names, ", "))
	}
	return strings.Join(texts, "; ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
