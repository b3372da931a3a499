package dashboard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
)

// lastTime is a time until now.
type lastTime struct {
	name string
	long time.Duration
}

// lasts are the times until now that the page offers.
var lasts = []lastTime{{"hour", time.Hour}, {"24 hours", 24 * time.Hour}, {"7 days", 7 * 24 * time.Hour}, {"30 days", 30 * 24 * time.Hour}}

// paged is a page of a list.
type paged struct {
	Page int  `json:"page"`
	More bool `json:"more"` // there is another one
}

// mostPages is how far back a list goes: a page costs as much as all before it.
const mostPages = 50

func pageOf(r *http.Request) paged {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	return paged{Page: min(max(n, 1), mostPages)}
}

// cut leaves those of a list that are on the page of so many.
func cut[T any](p *paged, list []T, of int) []T {
	p.More = len(list) > p.Page*of && p.Page < mostPages
	return list[min((p.Page-1)*of, len(list)):min(p.Page*of, len(list))]
}

// Lasts are the times until now that the page offers.
func (d *runList) Lasts() (names []string) {
	for _, one := range lasts {
		names = append(names, one.name)
	}
	return names
}

// Link is what leads to the same list with another value of one of its parameters.
func (d *runList) Link(prefix, name string, value any) string {
	pairs := map[string]any{"state": d.State, "task": d.Task, "handler": d.Handler, "group": d.Group, "last": d.Last, name: value}
	if d.Last == "" && name != "last" {
		for field, at := range map[string]time.Time{"from": d.From, "to": d.To} {
			if !at.IsZero() {
				pairs[field] = at.UTC().Format(time.RFC3339)
			}
		}
	}
	var list []any
	for field, value := range pairs {
		list = append(list, field, value)
	}
	return frame.Path(prefix, "runs", list...)
}
