package config

import (
	"fmt"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/notify"
)

// Notify is the key notify of a queue: the request that follows commits of jobs to
// it. It names secrets; [Config.BuildNotify] looks them up.
type Notify struct {
	notify.Config
	Off bool // notify: false

	headerEnv map[string]string // environment variables with the values of headers
}

// read reads the key notify of a queue: settings, or false.
func (c *Notify) read(r *reader, place string, n *node) {
	if n.kind != isMapping && n.kind != isNull {
		if c.Off = n.plain == false; !c.Off {
			r.problem(n, "%s must be a mapping with a url, or false", place)
		}
		return
	}
	r.mapping(n, place, &c.Config, keys{"header_env": &c.headerEnv})
	r.need(n, place, "url", "a ")
}

// BuildNotify returns the settings of the notifiers of queues. env looks up the
// environment variables with the values of headers. No error shows such a value.
func (c *Config) BuildNotify(env func(string) string) ([]notify.Config, error) {
	var built []notify.Config
	for sink, n := range c.Notify {
		if n.Off {
			continue
		}
		cfg := n.Config
		cfg.Sink = sink
		var err error
		if cfg.Header, err = headerWith(cfg.Header, n.headerEnv, env); err == nil {
			err = cfg.Validate()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: queues.%s.notify: %w", c.Path, sink, err)
		}
		built = append(built, cfg)
	}
	return built, nil
}

// NotifySet reports whether the configuration says what follows a commit to a queue,
// if only that nothing does.
func (c *Config) NotifySet(sink periodic.Sink) bool { return c.Notify[sink] != nil }
