package service

import (
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/store"
)

// hooks are the hooks of the configuration, or nil if there are none.
func (s *services) hooks() (*store.Hooks, error) {
	made, err := s.config.BuildHooks(s.env.Getenv)
	if err != nil || !hookbook.Any(made) {
		return nil, err
	}
	return s.db.Hooks(made)
}

// hookRelay is the relay that delivers to hooks, if there are any.
func (s *services) hookRelay() ([]part, error) {
	hooks, err := s.hooks()
	if err != nil || hooks == nil {
		return nil, err
	}
	queues, err := s.config.BuildQueues(s.db)
	if err != nil {
		return nil, err
	}
	c := relay.Config{Name: s.name, Logger: s.log}
	if s.metrics != nil {
		c.Observe = s.metrics.Relay
	}
	relay, err := hooks.Relay(c, queues)
	if err != nil {
		return nil, err
	}
	return []part{{stageHooks, relay}}, nil
}
