package view

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// Service is what a scheduler, an executor or a relay has published about
// itself.
type Service struct {
	Worker   string // name@boot id
	Kind     ServiceKind
	Version  string // of the program
	Started  time.Time
	Seen     time.Time                // when it last said that it lives
	Lives    bool                     // as far as the database shows
	Places   int                      // of an executor: how many jobs it runs at once
	Groups   []string                 // of an executor: it takes jobs of these only; none: of all. Of a scheduler: the sinks that it knows
	Handlers []exchange.HandlerLimits // of an executor
	Zones    map[string]string        // of a scheduler: what calendar.ZoneRules gave there
	Trouble  string                   // of a scheduler: the error that keeps it from its work; empty: none
}

// Has reports whether an executor has a handler.
func (s *Service) Has(handler string) bool {
	return slices.ContainsFunc(s.Handlers, func(h exchange.HandlerLimits) bool { return h.Name == handler })
}

// OtherZones are the zones that have other rules in the process of the service than in this one.
func (s *Service) OtherZones() (names []string) {
	for name, rules := range calendar.ZoneRules() {
		if theirs, known := s.Zones[name]; known && theirs != rules {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ServiceKind says what a service does.
type ServiceKind string

// The kinds of services.
const (
	Scheduler ServiceKind = "scheduler"
	Executor  ServiceKind = "executor"
)

// livesFor is how long a worker counts as living after it last said so, for people: it does so every 30 s, and while
// jobs run every 2 s.
const livesFor = 90 * time.Second

// NameOf is the name of a worker, without its start.
func NameOf(worker string) string {
	name, _, _ := strings.Cut(worker, service.BootMark)
	return name
}

// Services reads what has been published, by those that run and by those that were killed.
func (r Reader) Services(ctx context.Context) ([]Service, error) {
	var rows []struct {
		ID         string
		Kind       sqldb.RowText
		Version    sqldb.RowText
		Started    sqldb.RowTime
		Seen       sqldb.RowTime
		Places     sqldb.RowInt
		OnlyGroups sqldb.RowText `db:"only_groups"`
		Handlers   sqldb.RowText
		Zones      sqldb.RowText
		Trouble    sqldb.RowText
	}
	var now time.Time
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		now = tx.Now()
		return tx.Select(ctx, &rows, "SELECT id, kind, version, started, seen, places, only_groups, handlers, zones, trouble FROM worker ORDER BY id")
	})
	if err != nil {
		return nil, fmt.Errorf("read who runs: %w", err)
	}
	list := make([]Service, len(rows))
	for i, row := range rows {
		s := Service{Worker: row.ID, Kind: ServiceKind(row.Kind), Version: string(row.Version), Started: row.Started.Time(),
			Seen: row.Seen.Time(), Lives: now.Sub(row.Seen.Time()) <= livesFor, Trouble: string(row.Trouble), Places: row.Places.N}
		// What is not set, or was written by somebody else, reads as none.
		_ = json.Unmarshal([]byte(row.Handlers), &s.Handlers)
		_ = json.Unmarshal([]byte(row.OnlyGroups), &s.Groups)
		_ = json.Unmarshal([]byte(row.Zones), &s.Zones)
		list[i] = s
	}
	return list, nil
}
