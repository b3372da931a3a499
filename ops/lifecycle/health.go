package lifecycle

import (
	"context"
	"errors"
	"slices"
	"time"
)

// State is the state of a stage.
type State string

// The states of a stage.
const (
	Up     State = "up"
	Down   State = "down"   // not yet, or no more
	Failed State = "failed" // or unhealthy
)

// StageHealth is the state of a stage.
type StageHealth struct {
	Stage string `json:"stage"`
	State State  `json:"state"`
	Error string `json:"error,omitempty"`
}

// Report is the health of a process.
type Report struct {
	Healthy bool          `json:"healthy"` // all is up, and neither starting nor stopping
	Stages  []StageHealth `json:"stages"`
}

// Health reports on every stage, in order.
func (p *Process) Health(ctx context.Context) Report {
	report := Report{Healthy: p.started.Load(), Stages: p.stages.health(ctx)}
	for _, one := range report.Stages {
		report.Healthy = report.Healthy && one.State == Up
	}
	return report
}

func (s *stages) health(ctx context.Context) []StageHealth {
	list, done, failed := s.snapshot()
	report := make([]StageHealth, len(list))
	for i := range list {
		one := &list[i]
		report[i] = StageHealth{Stage: one.Name, State: Down}
		err := failed[one.Name]
		if i < done {
			report[i].State, err = Up, nil
			if one.Health != nil {
				err = one.Health(ctx)
			}
		}
		if err != nil {
			report[i].State, report[i].Error = Failed, err.Error()
		}
	}
	return report
}

func (s *stages) snapshot() (list []Stage, done int, failed map[string]error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list), s.done, s.failed
}

// sick returns the first stage that is up and not healthy, and what is wrong.
func (s *stages) sick(ctx context.Context) (string, error) {
	list, done, _ := s.snapshot()
	for i := range list[:done] {
		if one := &list[i]; one.Health != nil {
			if err := one.Health(ctx); err != nil {
				return one.Name, err
			}
		}
	}
	return "", nil
}

// How often the health is looked at during a start: soon, then more rarely.
const (
	leastLook = 10 * time.Millisecond
	mostLook  = 500 * time.Millisecond
)

// awaitHealth waits until all stages are healthy. It returns the first one that is
// not when the patience or ctx ends, or a service has ended.
func (p *Process) awaitHealth(ctx context.Context) (stage string, err error) {
	patience := time.NewTimer(p.cfg.StartTimeout)
	defer patience.Stop()
	for pause := leastLook; ; pause = min(2*pause, mostLook) {
		looking, cancel := context.WithTimeout(ctx, healthTimeout)
		stage, err = p.stages.sick(looking)
		cancel()
		if err == nil {
			return "", nil
		}
		next := time.NewTimer(pause)
		select {
		case <-next.C:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-p.ended:
			stage, err = p.stages.endedFirst()
		case <-patience.C:
			err = &unhealthyError{p.cfg.StartTimeout, err}
		}
		next.Stop()
		return stage, err
	}
}

// unhealthyError says that a stage came up and did not become healthy.
type unhealthyError struct {
	after time.Duration
	err   error
}

func (e *unhealthyError) Error() string {
	return "not healthy after " + e.after.String() + ": " + e.err.Error()
}
func (e *unhealthyError) Unwrap() error { return e.err }

// endedFirst returns the first stage that has ended, and why.
func (s *stages) endedFirst() (stage string, err error) {
	list, done, _ := s.snapshot()
	for i := range list[:done] {
		one := &list[i]
		select {
		case <-one.Done: // never, if it is nil
		default:
			continue
		}
		if one.Err != nil && one.Err() != nil {
			return one.Name, one.Err()
		}
		return one.Name, errEnded
	}
	return "", errEnded
}

var errEnded = errors.New("it has ended")
