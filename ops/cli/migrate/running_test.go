package migrate

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/migrations"
)

func TestWarningOfAnUpdate(t *testing.T) {
	t.Parallel()
	for want, out := range map[string]migrations.ShutsOut{
		"none of them can be started again": {Below: 3, Known: 2},
		"less than migration 2 cannot":      {Below: 2, Known: 2},
	} {
		if got := warning(out); !strings.Contains(got, want) {
			t.Errorf("%+v: %q", out, got)
		}
	}
	if got := warning(migrations.ShutsOut{}); got != "" {
		t.Errorf("an additive update warns: %q", got)
	}
}
