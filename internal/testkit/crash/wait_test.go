//go:build crashpoints && linux

package crash_test

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// quiet reports whether all is done.
func (c *crashes) quiet() bool {
	c.consume(0)
	for _, query := range []string{
		`SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL OR due IS NULL`,
		`SELECT count(*) FROM periodic_tick WHERE decision = 'late'`,
		`SELECT count(*) FROM job WHERE state NOT IN ('success', 'failed', 'cancelled')`,
		`SELECT count(*) FROM outbox_message WHERE published IS NULL AND dead IS NULL`,
	} {
		if n := c.count(query); n > 0 {
			c.left = fmt.Sprintf("%d by %s", n, query)
			return false
		}
	}
	return true
}

func (c *crashes) count(query string, args ...any) (n int) {
	c.t.Helper()
	if err := c.SQL.QueryRow(c.SQL.Rebind(query), args...).Scan(&n); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// await waits for a condition, and ends the test if it never holds or a process that has
// to live has ended.
func (c *crashes) await(what string, alive []*process, holds func() bool) {
	c.t.Helper()
	again := time.NewTicker(30 * time.Millisecond)
	defer again.Stop()
	for late := time.Now().Add(storetest.Patience / 2); !holds(); <-again.C {
		if time.Now().After(late) {
			text := ""
			for _, p := range alive {
				text += p.name + ":\n" + p.output() + "\n"
			}
			c.t.Fatalf("waited, but not: %s\n%s", what, text)
		}
	}
}
