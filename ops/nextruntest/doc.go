// Package nextruntest tests the periodic tasks of a program: whether they run when they
// should, what happens after an outage, and whether handlers do their work. A test moves
// the clock; nothing waits.
//
//	func TestReportRunsAtNight(t *testing.T) {
//		s := nextruntest.New(t, nextruntest.Options{})
//		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'report', '*-*-* 02:00 Europe/Berlin')`)
//		s.Advance(24 * time.Hour)
//		s.RequireSubmitted("report", "2026-01-01 01:00")
//		s.RequireGuarantees()
//	}
//
// The scheduler, the executor, the tables and their triggers are the real ones, on a SQLite
// file in a temporary directory. Only the database's clock is not real. It stands still
// between the calls that move it.
//
// Times are UTC. Tests take them in the form `2026-03-29 01:30` or `2026-03-29 01:30:05`.
package nextruntest
