package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// stage is a step of the start of a process, with its undo.
type stage struct {
	name   string
	needs  []string                    // stages that are up before
	up     func(context.Context) error // does it; nil: nothing to do
	down   func(context.Context) error // undoes it; nil: nothing to undo
	health func(context.Context) error // says what is wrong while it is up; nil: nothing ever is
}

// stages are brought up one after the other and taken down in reverse order.
// It is safe for concurrent use, but for up and down at a time.
type stages struct {
	mu     sync.Mutex
	list   []stage
	done   int              // that many are up
	failed map[string]error // by stage: why up failed
}

// stageError is the failure of a stage.
type stageError struct {
	stage string
	doing string // start or stop
	err   error
}

func (e *stageError) Error() string {
	return fmt.Sprintf("%s failed at %s: %v", e.doing, e.stage, e.err)
}
func (e *stageError) Unwrap() error { return e.err }

// add appends stages. It returns an error if one needs another that does not
// come before it, or has the name of another.
func (s *stages) add(more ...stage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range more {
		if s.has(one.name) {
			return fmt.Errorf("stage %q is there twice", one.name)
		}
		for _, need := range one.needs {
			if !s.has(need) {
				return fmt.Errorf("stage %q needs %q, which does not come before it", one.name, need)
			}
		}
		s.list = append(s.list, one)
	}
	return nil
}

func (s *stages) has(name string) bool {
	return slices.ContainsFunc(s.list, func(one stage) bool { return one.name == name })
}

// up brings up all stages that are not yet. If one fails, or ctx ends, it takes
// those before it down, in reverse order, and returns a [*stageError]; what goes
// wrong with that is added.
func (s *stages) up(ctx context.Context) error {
	for {
		next, ok := s.next()
		if !ok {
			return nil
		}
		err := ctx.Err()
		if err == nil && next.up != nil {
			err = next.up(ctx)
		}
		s.mu.Lock()
		if err == nil {
			s.done++
		} else {
			s.failed = map[string]error{next.name: err}
		}
		s.mu.Unlock()
		if err != nil {
			return errors.Join(&stageError{next.name, "start", err}, s.down(context.WithoutCancel(ctx)))
		}
	}
}

func (s *stages) next() (stage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == len(s.list) {
		return stage{}, false
	}
	return s.list[s.done], true
}

// down takes down the stages that are up, the last one first. A failure does
// not keep the others from it; all failures are returned. Done twice, it does
// nothing.
func (s *stages) down(ctx context.Context) error {
	var failures []error
	for {
		s.mu.Lock()
		if s.done == 0 {
			s.mu.Unlock()
			return errors.Join(failures...)
		}
		s.done--
		last := s.list[s.done]
		s.mu.Unlock()
		if last.down == nil {
			continue
		}
		if err := last.down(ctx); err != nil {
			failures = append(failures, &stageError{last.name, "stop", err})
		}
	}
}

// The states of a stage.
const (
	stateUp     = "up"
	stateDown   = "down" // not yet, or no more
	stateFailed = "failed"
)

// stageHealth is the state of a stage.
type stageHealth struct {
	Stage string `json:"stage"`
	State string `json:"state"`
	Error string `json:"error,omitempty"`
}

// health reports on every stage, in order.
func (s *stages) health(ctx context.Context) []stageHealth {
	s.mu.Lock()
	list, done, failed := slices.Clone(s.list), s.done, s.failed
	s.mu.Unlock()
	report := make([]stageHealth, len(list))
	for i, one := range list {
		report[i] = stageHealth{Stage: one.name, State: stateDown}
		err := failed[one.name]
		if i < done {
			report[i].State, err = stateUp, nil
			if one.health != nil {
				err = one.health(ctx)
			}
		}
		if err != nil {
			report[i].State, report[i].Error = stateFailed, err.Error()
		}
	}
	return report
}
