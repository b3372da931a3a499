package why

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/ops/internal/view"
)

// mostNamed is how many jobs, or workers, a sentence names.
const mostNamed = 3

// some joins the first of several texts.
func some(texts []string, by string) string {
	if more := len(texts) - mostNamed; more > 0 {
		texts = append(texts[:mostNamed:mostNamed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, by)
}

// workersOf names services.
func workersOf(list []view.Service) string {
	var names []string
	for _, s := range list {
		names = append(names, s.Worker)
	}
	return some(names, ", ")
}

// handlersOf says which handlers executors have.
func handlersOf(list []view.Service) string {
	var texts []string
	for _, s := range list {
		var names []string
		for _, h := range s.Handlers {
			names = append(names, h.Name)
		}
		texts = append(texts, s.Worker+" has "+strings.Join(names, ", "))
	}
	return some(texts, "; ")
}

// nearest is the handler of these executors whose name differs by two letters at most, if there is just one; empty: there is none.
func nearest(name string, list []view.Service) (near string) {
	const most = 2
	for _, s := range list {
		for _, h := range s.Handlers {
			switch {
			case h.Name == near || distance(name, h.Name) > most || len(name) <= most:
			case near != "":
				return ""
			default:
				near = h.Name
			}
		}
	}
	return near
}

// distance is how many letters have to be added, removed or replaced to make one word of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func filter[T any](list []T, keep func(T) bool) (kept []T) {
	for _, one := range list {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
