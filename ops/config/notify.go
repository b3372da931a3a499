package config

import (
	"fmt"
	"net/http"

	"go.yaml.in/yaml/v3"

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

// notify reads the key notify of a queue: settings, or false.
func (r queueReader) notify(place string, n *yaml.Node) *Notify {
	c := &Notify{}
	if resolve(n).Kind == yaml.ScalarNode && !isNull(resolve(n)) {
		if resolve(n).Tag != "!!bool" || r.boolean(place, n) {
			r.problem(n, "%s must be a mapping with a url, or false", place)
		}
		c.Off = true
		return c
	}
	r.mapping(n, place, keys{
		"method":     func(place string, v *yaml.Node) { c.Method = r.method(place, v) },
		"url":        &c.URL,
		"headers":    func(place string, v *yaml.Node) { c.Header = r.headers(place, v) },
		"header_env": &c.headerEnv,
		"timeout":    &c.Timeout,
	})
	r.need(n, place, "url", "a ")
	r.check(n, place, &c.Config)
	return c
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
		cfg.Sink, cfg.Header = sink, cfg.Header.Clone()
		fromEnv, err := headers(nil, n.headerEnv, env)
		if err == nil {
			for name, value := range fromEnv {
				if cfg.Header == nil {
					cfg.Header = http.Header{}
				}
				cfg.Header.Set(name, value)
			}
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
