package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Stage is a step of the start of a process, with its undo.
type Stage struct {
	// Name is unique in its process.
	Name string
	// Needs are the names of stages that come before it.
	Needs []string
	// Up does the step and returns when it is done. nil: nothing to do.
	Up func(context.Context) error
	// Down undoes it and returns when that is done. If its context ends before, it
	// gives up what is in flight. nil: nothing to undo.
	Down func(context.Context) error
	// Health says what is wrong while the stage is up. It may be called at any time.
	// nil: nothing ever is.
	Health func(context.Context) error
	// Done is closed when what the stage has started has ended. If it ends before
	// Down, the process stops. nil: never.
	Done <-chan struct{}
	// Err says why it has ended by itself, after Done; nil: for no special reason.
	Err func() error

	watchdog bool   // Health needs no database: the watchdog asks it
	hurry    func() // called if Down should hurry; nil: nothing to do
	feeds    bool   // it gives others work, so it goes down before all of them
}

// StageError is the failure of a stage. [Process.Up], [Process.Start] and
// [Process.Stop] return it.
type StageError struct {
	Stage string
	Doing string // start or stop
	Err   error
}

// Error names the stage.
func (e *StageError) Error() string {
	return fmt.Sprintf("%s failed at %s: %v", e.Doing, e.Stage, e.Err)
}
func (e *StageError) Unwrap() error { return e.Err }

// stages are brought up one after the other and taken down in reverse order, those that
// give others work first. It is safe for concurrent use, but for up and down at a time.
type stages struct {
	mu     sync.Mutex
	list   []Stage
	done   int              // that many are up
	failed map[string]error // by stage: why up failed
	hurry  chan struct{}    // closed: downs give up what is in flight; nil: never
}

// add appends stages. It returns an error if one needs another that does not
// come before it, or has the name of another.
func (s *stages) add(more ...Stage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range more {
		one := &more[i]
		if s.has(one.Name) {
			return fmt.Errorf("stage %q is there twice", one.Name)
		}
		for _, need := range one.Needs {
			if !s.has(need) {
				return fmt.Errorf("stage %q needs %q, which does not come before it", one.Name, need)
			}
		}
		s.list = append(s.list, *one)
	}
	return nil
}

func (s *stages) has(name string) bool {
	return slices.ContainsFunc(s.list, func(one Stage) bool { return one.Name == name })
}

// up brings up all stages that are not yet. If one fails, or ctx ends, it takes
// those before it down, in reverse order, and returns a [*StageError]; what goes
// wrong with that is added. It calls begun with each stage that has come up.
func (s *stages) up(ctx context.Context, begun func(Stage)) error {
	for {
		next, ok := s.next()
		if !ok {
			return nil
		}
		err := ctx.Err()
		if err == nil && next.Up != nil {
			err = next.Up(ctx)
		}
		if err != nil {
			return s.giveUp(ctx, next.Name, err)
		}
		s.mu.Lock()
		s.done++
		s.mu.Unlock()
		begun(next)
	}
}

// giveUp notes that a stage has failed and takes down those that are up.
func (s *stages) giveUp(ctx context.Context, stage string, err error) error {
	s.mu.Lock()
	s.failed = map[string]error{stage: err}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTimeout)
	defer cancel()
	return errors.Join(&StageError{stage, "start", err}, s.down(ctx))
}

func (s *stages) next() (Stage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == len(s.list) {
		return Stage{}, false
	}
	return s.list[s.done], true
}

// down takes down the stages that are up, the last one first, but before them those that
// give others work. A failure does not keep the others from it; all failures are returned.
// Done twice, it does nothing.
func (s *stages) down(ctx context.Context) error {
	var failures []error
	s.mu.Lock()
	slices.SortStableFunc(s.list[:s.done], func(a, b Stage) int {
		switch {
		case b.feeds && !a.feeds:
			return -1
		case a.feeds && !b.feeds:
			return 1
		}
		return 0
	})
	s.mu.Unlock()
	for {
		s.mu.Lock()
		if s.done == 0 {
			s.mu.Unlock()
			return errors.Join(failures...)
		}
		s.done--
		last := s.list[s.done]
		s.mu.Unlock()
		if last.Down == nil {
			continue
		}
		if err := s.downOne(ctx, last); err != nil {
			failures = append(failures, &StageError{last.Name, "stop", err})
		}
	}
}

// downOne takes a stage down. If there is a hurry, or ctx has ended before its turn, it
// gets a last moment.
func (s *stages) downOne(ctx context.Context, one Stage) error {
	late := ctx.Err() != nil
	if late {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	limit := func() {
		if one.hurry != nil {
			one.hurry()
		}
		select {
		case <-time.After(lastMoment):
			cancel()
		case <-ended:
		}
	}
	go func() {
		if late {
			limit()
			return
		}
		select {
		case <-s.hurry:
			limit()
		case <-ended:
		}
	}()
	return one.Down(ctx)
}
