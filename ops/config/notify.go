package config

import (
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/notify"
)

// Notify is the key notify of a queue: the request that follows commits of jobs to it.
type Notify struct {
	notify.Config
	Off bool // notify: false
}

// read reads the key notify of a queue: settings, or false.
func (c *Notify) read(r *reader, place string, n *node) {
	if n.kind != isMapping && n.kind != isNull {
		if c.Off = n.plain == false; !c.Off {
			r.problem(n, "%s must be a mapping with a url, or false", place)
		}
		return
	}
	r.mapping(n, place, &c.Config)
	r.need(n, place, "url", "a ")
}

// BuildNotify returns the settings of the notifiers of queues.
func (c *Config) BuildNotify() (built []notify.Config, err error) {
	for sink, n := range c.Notify {
		if n.Off {
			continue
		}
		if err := c.lacks("queues." + string(sink) + ".notify"); err != nil {
			return nil, err
		}
		n.Sink = sink
		built = append(built, n.Config)
	}
	return built, nil
}

// NotifySet reports whether the configuration says what follows a commit to a queue,
// if only that nothing does.
func (c *Config) NotifySet(sink periodic.Sink) bool { return c.Notify[sink] != nil }
