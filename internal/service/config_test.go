package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

func TestCheckNamesFieldAndBound(t *testing.T) {
	check := service.Check{Config: "relay.Config"}
	check.Name("good")
	service.Within(&check, "Low", 1, 1, 2)
	service.Within(&check, "High", 2, 1, 2)
	service.AtLeast(&check, "Least", time.Second, time.Second)
	if err := check.Err(); err != nil {
		t.Errorf("all is right, but: %v", err)
	}
	check.Name("a/b")
	service.Within(&check, "Size", 0, 1, 2)
	service.Within(&check, "Lease", 25*time.Hour, 90*time.Minute, 24*time.Hour)
	service.AtLeast(&check, "Retry", time.Second, time.Minute)
	check.Field(false, "Kind", "odd", "even")
	want := `relay.Config.Name is "a/b"; use 1 to 200 bytes of UTF-8 without slashes and control characters
relay.Config.Size is 0; use 1 to 2, or 0 for the default
relay.Config.Lease is 25h; use 1h30m to 24h, or 0 for the default
relay.Config.Retry is 1s; use 1m or more, or 0 for the default
relay.Config.Kind is odd; use even`
	if err := check.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestCheckOfNames(t *testing.T) {
	for name, want := range map[string]bool{
		"host": true, strings.Repeat("n", 200): true, "ä b": true,
		"": false, strings.Repeat("n", 201): false, "a/b": false, "a\nb": false, "a\x00": false, "a\xff": false,
	} {
		check := service.Check{Config: "Config"}
		if check.Name(name); (check.Err() == nil) != want {
			t.Errorf("%q: %v", name, check.Err())
		}
	}
}

func TestSetDefault(t *testing.T) {
	unset, set := 0, 1
	service.SetDefault(&unset, 2)
	service.SetDefault(&set, 2)
	if unset != 2 || set != 1 {
		t.Errorf("unset %d, set %d", unset, set)
	}
}
