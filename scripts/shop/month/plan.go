package month

import (
	"time"
)

// plan is a task, and how its jobs go.
type plan struct {
	id, timer string
	columns   map[string]any // beside id, task and timer
	takes     time.Duration  // how long an attempt takes
	fails     func(n int) bool
	fatal     bool // a failure is not tried again
}

type cols = map[string]any

func never(int) bool { return false }

// every fails the n-th attempts, n = step-1, 2*step-1, and so on.
func every(step int) func(int) bool { return func(n int) bool { return n%step == step-1 } }

func always(int) bool { return true }

// plans are the tasks of the shop.
var plans = []plan{
	{"order-export", "*:0/30", cols{"group_": "orders", "catchup": "all", "overlap": "queue"}, 4 * time.Minute, every(97), false},
	{"order-confirmations", "every 1h", cols{"group_": "orders"}, 40 * time.Second, never, false},
	{"order-cleanup", "*-*-* 03:10 Europe/Berlin", cols{"group_": "orders", "catchup": "none"}, 9 * time.Minute, never, false},
	{"order-audit", "Mon 06:00 Europe/Berlin", cols{"group_": "orders", "priority": 10}, 31 * time.Minute, never, false},
	{"stock-sync", "hourly", cols{"group_": "stock"}, 75 * time.Minute, never, false}, // longer than its period: skips
	{"stock-replace", "*-*-* 0/2:00", cols{"group_": "stock", "overlap": "replace"}, 12 * time.Minute, never, false},
	{"stock-count", "*-*-* 22:00", cols{"group_": "stock", "overlap": "allow"}, 26 * time.Hour, never, false},
	{"stock-forecast", "0 5 * * *", cols{"group_": "stock", "grace": 3600}, 17 * time.Minute, every(5), false},
	{"price-feed", "*-*-* 0/2:05", cols{"group_": "prices", "deadline": 900}, 8 * time.Minute, never, false},
	{"price-check", "*-*-* 07,13,19:30", cols{"group_": "prices", "jitter": 300}, 90 * time.Second, every(4), false},
	{"price-import", "every 6h", cols{"group_": "prices"}, 3 * time.Minute, always, false},
	{"invoice-run", "*-*-01 04:00 Europe/Berlin", cols{"group_": "finance", "catchup": "all"}, 50 * time.Minute, never, false},
	{"invoice-reminders", "Mon..Fri 09:00 Europe/Berlin", cols{"group_": "finance"}, 2 * time.Minute, every(3), false},
	{"payments-settle", "*-*-* 23:45", cols{"group_": "finance", "deadline": 3600, "catchup": "all"}, 6 * time.Minute, never, false},
	{"payments-check", "hourly", cols{"group_": "finance", "retry_limit": 0}, 20 * time.Second, always, true},
	{"tax-report", "quarterly", cols{"group_": "finance"}, time.Hour, never, false},
	{"ledger-close", "*-*~01 21:00", cols{"group_": "finance"}, time.Hour, never, false},
	{"newsletter", "Tue 10:00 Europe/Berlin", cols{"group_": "mail"}, 22 * time.Minute, never, false},
	{"mail-bounces", "*:10", cols{"group_": "mail", "catchup": "none"}, 15 * time.Second, never, false},
	{"mail-digest", "*-*-* 06:15 America/New_York", cols{"group_": "mail"}, 4 * time.Minute, never, false},
	{"search-index", "*-*-* 01:30", cols{"group_": "search"}, 55 * time.Minute, never, false},
	{"search-warm", "*-*-* 0/3:00", cols{"group_": "search", "overlap": "allow"}, time.Minute, never, false},
	{"search-synonyms", "weekly", cols{"group_": "search"}, 5 * time.Minute, always, true},
	{"backup-database", "*-*-* 02:00 Europe/Berlin", cols{"group_": "ops", "priority": 10}, 42 * time.Minute, never, false},
	{"backup-files", "*-*-* 03:00 Europe/Berlin", cols{"group_": "ops"}, 80 * time.Minute, every(11), false},
	{"backup-verify", "Sun 12:00", cols{"group_": "ops"}, 2 * time.Hour, never, false},
	{"certificates", "daily", cols{"group_": "ops"}, 3 * time.Second, never, false},
	{"log-rotate", "*-*-* 00:05", cols{"group_": "ops"}, time.Second, never, false},
	{"disk-report", "every 12h", cols{"group_": "ops"}, 2 * time.Second, never, false},
	{"legacy-feed", "*-*-* 0/4:20", cols{"group_": "legacy", "sink": "legacy"}, 0, never, false},
	{"legacy-prices", "*-*-* 05:40", cols{"group_": "legacy", "sink": "legacy", "overlap": "allow"}, 0, never, false},
	{"legacy-sync", "hourly", cols{"group_": "legacy"}, 30 * time.Second, never, false}, // disabled on the way
	{"event-daily", "*-*-* 08:00", cols{"group_": "reports", "sink": "event"}, 0, never, false},
	{"event-hourly", "hourly", cols{"group_": "reports", "sink": "event"}, 0, never, false},
	{"report-weekly", "Fri 16:00 Europe/Berlin", cols{"group_": "reports"}, 11 * time.Minute, never, false},
	{"report-once", "2020-02-29 12:00", cols{"group_": "reports"}, time.Minute, never, false},            // does not elapse any more
	{"season-sale", "daily", cols{"group_": "prices", "ends": "2026-01-31 00:00:00"}, 0, never, false},   // ended long ago
	{"season-next", "daily", cols{"group_": "prices", "starts": "2090-01-01 00:00:00"}, 0, never, false}, // starts far ahead
	{"feed-partner", "*-*-* 11:00", cols{"group_": "partners"}, 5 * time.Minute, every(2), false},
}

// typo is inserted late, with a timer that nobody can read.
const typo = "feed-typo"

func planOf(id string) *plan {
	for i := range plans {
		if plans[i].id == id {
			return &plans[i]
		}
	}
	return nil
}
