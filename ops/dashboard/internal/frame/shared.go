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
			return nil, a.err
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.answers[key] == a { // nobody has changed anything
			s.answers[last+key] = a
		}
		return a.data, nil
	}
	s.mutex.Unlock()
	<-a.ready
	return a.data, a.err
}

// last begins the keys of what may stand in for the next answer while that is read.
const last = "last "

// Soon is Get for what may take long: it returns what it was a while ago, but not longer ago than before, or else waits for it so
// long at most. If it is not there then, it returns nil, and the answer is for who asks again.
func (s *Shared) Soon(key string, now time.Time, age, before, wait time.Duration, load func() (any, error)) (any, error) {
	s.mutex.Lock()
	old := s.answers[last+key]
	s.mutex.Unlock()
	if old != nil && now.Sub(old.at) <= before {
		wait = 0
	} else {
		old = &answer{}
	}
	done := make(chan answer, 1)
	go func() {
		data, err := s.Get(key, now, age, load)
		done <- answer{data: data, err: err}
	}()
	select {
	case a := <-done:
		return a.data, a.err
	case <-time.After(wait):
		return old.data, nil
	}
}

// forget drops what is kept: somebody has changed something.
func (s *Shared) forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers = nil
}
