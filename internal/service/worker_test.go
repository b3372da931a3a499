package service_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

func TestWorkerNames(t *testing.T) {
	for name, want := range map[string]string{
		"host": "host", "Web-1.example_org": "Web-1.example_org", "vm:1": "vm-1", "a b/c@d": "a-b-c-d", "ä\xff": "--", "@": "-",
	} {
		if got := service.WorkerName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	id := service.WorkerID("a b")
	if !regexp.MustCompile(`^a-b@[0-9a-f]{12}$`).MatchString(id) || id == service.WorkerID("a b") {
		t.Errorf("the id is %q", id)
	}
}

func TestBackoffDoublesBetweenItsBounds(t *testing.T) {
	b := service.Backoff{Least: time.Second, Most: 10 * time.Second}
	for range 2 { // and once more after Reset
		for i, seconds := range []int{1, 2, 4, 8, 10, 10, 10} {
			whole := time.Duration(seconds) * time.Second
			if got := b.Next(); got < whole/2 || got > whole {
				t.Errorf("after failure %d: %s, want %s to %s", i+1, got, whole/2, whole)
			}
		}
		b.Reset()
	}
}
