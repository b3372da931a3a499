package notify

import (
	"context"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/periodic"
)

// Bounds of [Config].
const (
	minDuration = time.Millisecond
	maxDuration = time.Hour
)

// Config is the settings of a [Notifier]. URL or Addresses is required. It holds
// secrets: do not log it.
type Config struct {
	// Sink is the queue whose consumers hear of new jobs. Empty: periodic.SinkJob.
	Sink periodic.Sink
	// URL, absolute, http or https, gets a POST.
	URL string
	// Addresses, if not nil, returns URLs to use instead of URL, at most 100: each
	// of them gets the request, independently of the others. It is called at a
	// commit, at most every 30 s, and may fail: then the last URLs are used.
	Addresses func(ctx context.Context) ([]string, error)
	// Timeout limits a request with its answer, 1 ms to 1 h. 0: 5 s.
	Timeout time.Duration
	// Transport makes the connections. nil: a copy of http.DefaultTransport.
	Transport http.RoundTripper
	// Logger takes the log lines. nil: logrus.StandardLogger().
	Logger logrus.FieldLogger
}

func (c Config) withDefaults() Config {
	service.SetDefault(&c.Sink, periodic.SinkJob)
	service.SetDefault(&c.Timeout, 5*time.Second)
	service.SetDefault[logrus.FieldLogger](&c.Logger, logrus.StandardLogger())
	return c
}

// Validate returns an error that names every field that is bad. It does not show
// the URL. [New] calls it.
func (c Config) Validate() error {
	c = c.withDefaults()
	p := &service.Check{Config: "notify.Config"}
	p.Field(c.Addresses != nil || web.GoodURL(c.URL), "URL", "not usable", "a URL such as https://example.org/wake")
	service.Within(p, "Timeout", c.Timeout, minDuration, maxDuration)
	return p.Err()
}
