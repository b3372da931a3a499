// Package fault makes faults happen: in lanes that run beside each other, each with one fault after the other.
package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"
)

// Fault is one that happened.
type Fault struct {
	Kind  string    `json:"kind"`
	On    string    `json:"on,omitempty"`
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	Error string    `json:"error,omitempty"` // it could not be made, or only in part
}

// Do makes a fault and ends it. f has Begin and End set unless Do sets them itself.
type Do func(ctx context.Context, r *rand.Rand, f *Fault) error

// Kind is a kind of faults.
type Kind struct {
	Name string
	Do   Do
}

// ErrNotNow is returned by a fault that has nothing to happen to.
var ErrNotNow = errors.New("not now")

// Matching chooses kinds by their names.
func Matching(kinds []Kind, only *regexp.Regexp) (chosen []Kind) {
	for _, k := range kinds {
		if only.MatchString(k.Name) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// Diary is what has happened. Several lanes may write to it.
type Diary struct {
	mu     sync.Mutex
	faults []Fault
}

// Add notes a fault that has ended.
func (d *Diary) Add(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, f)
}

// All are the faults so far.
func (d *Diary) All() []Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Fault(nil), d.faults...)
}
