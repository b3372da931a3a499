package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// However many services fail and however often, an outage is a line at its
// beginning, a few while it lasts, and one at its end.
func TestOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out storetest.Log
		log := out.Logger()
		var o service.Outage
		gone := errors.New("connection refused")
		for range 600 {
			for range 4 {
				if !service.LogOutage(log, fmt.Errorf("claim: %w", o.Failed(gone, true, time.Now()))) {
					t.Fatal("the error is not known as one of an outage")
				}
				o.Reached(false, time.Now()) // reading works
			}
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // in a bubble of synctest it takes no time
		}
		o.Reached(true, time.Now())
		o.Reached(true, time.Now())
		want := `level=ERROR msg="database does not work, retrying" error="connection refused"
level=ERROR msg="database still does not work, retrying" error="connection refused" for=10s
level=ERROR msg="database still does not work, retrying" error="connection refused" for=20s
level=ERROR msg="database still does not work, retrying" error="connection refused" for=40s
level=INFO msg="database works again" after=1m0s
`
		if got := out.String(); got != want {
			t.Errorf("the log has\n%s\nwant\n%s", got, want)
		}
		out.Reset()
		service.LogOutage(log, o.Failed(gone, false, time.Now()))
		o.Reached(false, time.Now())
		if got := out.String(); strings.Count(got, "\n") != 2 {
			t.Errorf("the next outage is logged as\n%s", got)
		}
		if service.LogOutage(log, gone) {
			t.Error("an error that no outage causes is taken for one")
		}
	})
}
