package service_test

import (
	"regexp"
	"testing"

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
