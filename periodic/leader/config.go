package leader

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
)

// Defaults of [Config].
const (
	DefaultLock      = "scheduler"
	DefaultTTL       = 30 * time.Second
	DefaultHeartbeat = 10 * time.Second
)

// Bounds of [Config].
const (
	maxText      = 254 // of the table's columns
	minHeartbeat = 10 * time.Millisecond
	maxTTL       = 24 * time.Hour
)

// Terms are what all who contend for a lock agree on.
type Terms struct {
	// Name of the lock. Schedulers that are to be independent of each
	// other on one database use different names. 1 to 254 bytes without control
	// characters. Empty: DefaultLock.
	Name string `yaml:"name"`
	// TTL is how long the lock lives without a renewal: how long after a crash
	// nobody holds it. At most 24 h, at least one and a half times the Stall of the store.
	// 0: DefaultTTL.
	TTL time.Duration `yaml:"ttl"`
	// Heartbeat is the time between renewals, and between the queries of those who
	// stand by. At least 10 ms, at most a third of TTL, so that two renewals may
	// fail. 0: DefaultHeartbeat, or a third of TTL if that is less.
	Heartbeat time.Duration `yaml:"heartbeat"`
}

// WithDefaults returns the terms with the defaults of what is not set.
func (t Terms) WithDefaults() Terms {
	service.SetDefault(&t.Name, DefaultLock)
	service.SetDefault(&t.TTL, DefaultTTL)
	service.SetDefault(&t.Heartbeat, min(DefaultHeartbeat, t.TTL/3))
	return t
}

// Validate returns an error that names every field that is out of bounds. [New]
// calls it. It needs no database.
func (t Terms) Validate() error {
	t = t.WithDefaults()
	p := &service.Check{Config: "leader.Terms"}
	p.Field(validName(t.Name), "Name", fmt.Sprintf("%q", t.Name), goodName)
	service.Within(p, "TTL", t.TTL, 3*minHeartbeat, maxTTL)
	p.Field(minHeartbeat <= t.Heartbeat && t.Heartbeat <= t.TTL/3, "Heartbeat", t.Heartbeat,
		fmt.Sprintf("%s to %s, a third of TTL", minHeartbeat, (t.TTL/3).Truncate(time.Millisecond)))
	return p.Err()
}

var goodName = fmt.Sprintf("1 to %d bytes without control characters", maxText)

func validName(s string) bool {
	return s != "" && len(s) <= maxText && !strings.ContainsFunc(s, unicode.IsControl)
}

// trust is how long after the start of a renewal the holder relies on it: the
// margin is for clocks that do not run equally fast.
func (t Terms) trust() time.Duration { return t.TTL - t.TTL/10 }

// Config is the settings of an [Elector]. Only Holder is required.
type Config struct {
	Terms
	// Holder tells this contender from all others, of other processes and of
	// this process before it was restarted; by convention worker name@boot id.
	// 1 to 254 bytes without control characters.
	Holder string
	// Exclusive makes Start fail if somebody else holds the lock, and ends the
	// elector if somebody else takes it.
	Exclusive bool
	// Works, if not nil, reports whether the holder makes progress; it must return at once. While it does not, the lock
	// is given back and not acquired, so that it goes to another one.
	Works func() bool
	// Observe, if not nil, is called for every event, from the elector's
	// goroutine and from Start: it must return soon.
	Observe func(Event)
}

// claim is what a new term puts into the row.
func (c Config) claim() Claim {
	host, _ := os.Hostname() // only for people: unknown is good enough
	fence := Fence{Lock: c.Name, Holder: c.Holder, Token: rand.Int64N(1 << 53)}
	return Claim{Fence: fence, Hostname: text.Clean(host, maxText), PID: os.Getpid(), TTL: c.TTL}
}
