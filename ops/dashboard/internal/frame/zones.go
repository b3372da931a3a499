package frame

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// zoneLink is a zone that the menu of zones offers, and why.
type zoneLink struct{ Name, Why string }

// zones are those that the menu offers: UTC, that of the server, and those of the timers. It is safe for concurrent use.
type zones struct {
	mutex sync.Mutex
	read  func(context.Context) (map[string]int, error) // tasks by the zones of their timers
	at    time.Time                                     // when they were read
	links []zoneLink
}

const (
	zonesAge   = 10 * time.Minute
	mostZones  = 6 // of timers
	zoneFolder = "/zoneinfo/"
)

// get returns the zones of a while ago, or reads them. If they cannot be read, the others are offered.
func (z *zones) get(ctx context.Context, now time.Time) []zoneLink {
	z.mutex.Lock()
	defer z.mutex.Unlock()
	if z.links != nil && now.Sub(z.at) < zonesAge {
		return z.links
	}
	links := []zoneLink{{Name: "UTC"}}
	if own := serverZone(); own != "UTC" && zoneNamed(own) != nil {
		links = append(links, zoneLink{own, "this server"})
	}
	used, err := z.read(ctx)
	if err != nil {
		return links
	}
	names := make([]string, 0, len(used))
	for name := range used {
		if zoneNamed(name) != nil && !slices.ContainsFunc(links, func(l zoneLink) bool { return l.Name == name }) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return used[b] - used[a] })
	for _, name := range names[:min(len(names), mostZones)] {
		why := "used by 1 task"
		if n := used[name]; n > 1 {
			why = "used by " + show.Number(n) + " tasks"
		}
		links = append(links, zoneLink{name, why})
	}
	z.links, z.at = links, now
	return links
}

// serverZone is the name of the machine's time zone: TZ, or where /etc/localtime points to.
func serverZone() string {
	if zone := strings.TrimPrefix(os.Getenv("TZ"), ":"); zone != "" {
		return zone
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if _, zone, found := strings.Cut(target, zoneFolder); err == nil && found {
		return strings.TrimPrefix(zone, "Etc/")
	}
	return "UTC"
}
