package frame

import (
	"errors"
	"sync"
	"time"
)

// shared keeps what pages that are open in many windows have in common: all that ask for the same
// within a moment get one answer of the database. It is safe for concurrent use.
type shared struct {
	mutex   sync.Mutex
	answers map[string]*answer
}

// answer is the data of a page.
type answer struct {
	ready chan struct{} // closed when it is there
	at    time.Time     // when it was asked for
	data  any
	err   error
}

// How old an answer may be, which is less than the time between two refreshes of a window, and how
// many are kept.
const (
	answerAge   = 4 * time.Second
	mostAnswers = 100
)

// errInterrupted is what those get who have waited for somebody whose request broke off.
var errInterrupted = errors.New("the page could not be read; try again")

// get returns the data for a key, of now or a moment ago.
func (s *shared) get(key string, now time.Time, load func() (any, error)) (any, error) {
	s.mutex.Lock()
	a := s.answers[key]
	if a != nil && now.Sub(a.at) < answerAge {
		s.mutex.Unlock()
		<-a.ready
		return a.data, a.err
	}
	if s.answers == nil || len(s.answers) >= mostAnswers {
		s.answers = map[string]*answer{}
	}
	a = &answer{ready: make(chan struct{}), at: now, err: errInterrupted}
	s.answers[key] = a
	s.mutex.Unlock()
	defer func() { // whatever happens: others wait
		if a.err != nil {
			s.drop(key, a)
		}
		close(a.ready)
	}()
	a.data, a.err = load()
	return a.data, a.err
}

// drop drops an answer, unless another one has taken its place.
func (s *shared) drop(key string, a *answer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.answers[key] == a {
		delete(s.answers, key)
	}
}

// forget drops what is kept: somebody has changed something.
func (s *shared) forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers = nil
}
