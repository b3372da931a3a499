package engine

import (
	"maps"
	"slices"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// attempts are the jobs in flight.
type attempts struct {
	byJID map[string]*attempt
	lost  map[*attempt]bool // their handlers have not returned yet
}

func newAttempts() attempts {
	return attempts{byJID: map[string]*attempt{}, lost: map[*attempt]bool{}}
}

func (as *attempts) jids() []string { return slices.Sorted(maps.Keys(as.byJID)) }

func (as *attempts) count() int { return len(as.byJID) + len(as.lost) }

func (as *attempts) add(a *attempt) { as.byJID[a.job.JID] = a }

// drop forgets an attempt.
func (as *attempts) drop(a *attempt) {
	if as.byJID[a.job.JID] == a {
		delete(as.byJID, a.job.JID)
	}
	delete(as.lost, a)
}

// lose moves an attempt to the lost ones, where it stays until its handler has
// returned.
func (as *attempts) lose(a *attempt) {
	as.drop(a)
	if a.phase == running {
		as.lost[a] = true
	}
	a.phase = lost
}

// maxUnrecorded is how many jobs whose ends cannot be recorded take no place in
// the pool.
const maxUnrecorded = 100

// room is how many jobs a pool of that size can take.
func (as *attempts) room(pool int) int {
	busy := len(as.lost)
	for _, a := range as.byJID {
		if a.phase == running {
			busy++
		}
	}
	return min(pool-busy, pool+maxUnrecorded-as.count())
}

// all yields every attempt.
func (as *attempts) all(yield func(*attempt) bool) {
	for _, a := range as.byJID {
		if !yield(a) {
			return
		}
	}
	for a := range as.lost {
		if !yield(a) {
			return
		}
	}
}

// wrote drops what a request has written. It returns the attempts that have
// nothing else to write for now.
func (as *attempts) wrote(q backend.Request) (done []*attempt) {
	seen := map[string]bool{}
	write := func(jid string) {
		if a := as.byJID[jid]; a != nil && !seen[jid] {
			seen[jid] = true
			a.written()
			if a.phase == running {
				done = append(done, a)
			}
		}
	}
	for _, line := range q.Lines {
		write(line.JID)
	}
	for _, p := range q.Progress {
		write(p.JID)
	}
	return done
}
