package config

import (
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/nextrun/nextrun/jobqueue/hooks"
)

// source is where a configuration comes from. It is safe for concurrent use.
type source struct {
	env func(string) string

	mu     sync.Mutex
	text   []byte // of the file
	newest *Config
}

// now is the newest configuration, with the secrets that their files hold now.
func (s *source) now() *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest.files.Changed() {
		s.newest.log().Info("configuration: files with secrets are read again, since one was replaced")
		_ = s.take(s.text) // it was good before
	}
	return s.newest
}

func (s *source) take(text []byte) error {
	next, err := parse(s.newest.Path, text, s.env)
	if err == nil {
		next.Log, next.source = s.newest.Log, s
		s.text, s.newest = text, next
	}
	return err
}

// Reload reads the file again: what the handlers, hooks and topics do that there were at the start is then as it says.
// Everything else is taken at a start only. After an error all stays as it was.
func (c *Config) Reload() error {
	if c.source == nil {
		return errors.New("there is no configuration file")
	}
	text, err := os.ReadFile(c.Path)
	if err != nil {
		return err
	}
	c.source.mu.Lock()
	defer c.source.mu.Unlock()
	return c.source.take(text)
}

func (c *Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}

// live is something that is built of the newest configuration.
type live[T any] struct {
	build func(*Config) (T, error)

	mu    sync.Mutex
	of    *Config // the one that it was last built of
	value T
}

// newLive builds what a place of the configuration says, which of finds there.
func newLive[S, T any](c *Config, place string, of func(*Config) (S, bool), build func(*Config, S) (T, error)) (*live[T], error) {
	l := &live[T]{of: c, build: func(c *Config) (made T, err error) {
		if err := c.lacks(place); err != nil {
			return made, err
		}
		says, found := of(c)
		if !found {
			return made, c.inPlace(place, errAtStart)
		}
		made, err = build(c, says)
		return made, c.inPlace(place, err)
	}}
	var err error
	l.value, err = l.build(c)
	return l, err
}

// get builds it anew if the configuration is another one. If that fails, the last one stays.
func (l *live[T]) get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.of.source.now()
	if now == l.of {
		return l.value
	}
	l.of = now
	value, err := l.build(now)
	if err != nil {
		now.log().Error("configuration: a part of it cannot be used; what it was before stays", "error", err)
		return l.value
	}
	if old, ok := any(l.value).(publisher); ok {
		old.Close()
	}
	l.value = value
	return value
}

// errAtStart is the error of what only another start takes.
var errAtStart = errors.New("it is not there any more, or does something else, which another start takes")

// liveHook is a hook whose command or call is that of the newest configuration.
func (c *Config) liveHook(place string, kind hooks.Kind, of func(*Config) HookSet) (*hooks.Action, error) {
	first := of(c)[kind]
	made, err := newLive(c, place, func(c *Config) (*Hook, bool) {
		h := of(c)[kind]
		return h, h != nil && h.Submit == first.Submit
	}, func(c *Config, h *Hook) (*hooks.Action, error) { return h.build(c) })
	if err != nil || made.value == hooks.None || first.Submit != "" {
		return made.value, err
	}
	return hooks.Live(first.First, made.get), nil
}
