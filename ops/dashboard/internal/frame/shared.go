package frame

import (
	"errors"
	"sync"
	"time"
)

// Shared keeps what pages that are open in many windows have in common: all that ask for the same
// within a moment get one answer of the database. It is safe for concurrent use.
type Shared struct {
	mutex   sync.Mutex
	answers map[string]*answer
}

// answer is the data of a page, or of a part of it.
type answer struct {
	ready chan struct{} // closed when it is there
	at    time.Time     // when it was asked for
	data  any
	err   error
}

// How old an answer may be, which is less than the time between two refreshes of a window, and how
// many are kept.
const (
	AnswerAge   = 4 * time.Second
	mostAnswers = 100
)

// errInterrupted is what those get who have waited for somebody whose request broke off.
var errInterrupted = errors.New("the page could not be read; try again")

// Get returns the data for a key, of now or no older than age.
func (s *Shared) Get(key string, now time.Time, age time.Duration, load func() (any, error)) (any, error) {
	s.mutex.Lock()
	a := s.answers[key]
	if a == nil || now.Sub(a.at) >= age {
		if s.answers == nil || len(s.answers) >= mostAnswers {
			s.answers = map[string]*answer{}
		}
		a = &answer{ready: make(chan struct{}), at: now}
		s.answers[key] = a
		s.mutex.Unlock()
		defer close(a.ready) // whatever happens: others wait
		a.err = errInterrupted
		if a.data, a.err = load(); a.err != nil {
			s.forget()
		}
		return a.data, a.err
	}
	s.mutex.Unlock()
	<-a.ready
	return a.data, a.err
}

// forget drops what is kept: somebody has changed something.
func (s *Shared) forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers = nil
}
