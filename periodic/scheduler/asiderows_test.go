package scheduler_test

import (
	"testing"
)

// A row that the table periodic_task took before nextrun was there may hold NULL
// where there is none now, and times that no schedule has.
func TestG5RowsOfOddValues(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("ALTER TABLE periodic_task ALTER subject DROP NOT NULL, ALTER task DROP NOT NULL, ALTER priority DROP NOT NULL, ALTER timer DROP NOT NULL")
	f.healthy()
	f.bad("allow")
	f.exec("ALTER TABLE periodic_task DISABLE TRIGGER USER")
	for id, change := range map[string]string{
		"bad-1": "subject = NULL", "bad-2": "task = NULL", "bad-3": "priority = NULL", "bad-4": "timer = NULL",
		"bad-5": "due = '0044-03-15 BC', nextrun = '1970-01-02'", "bad-6": "due = '99999-01-01', nextrun = '1970-01-02'",
		"bad-7": "due = '-infinity', nextrun = '1970-01-02'", "bad-8": "due = 'infinity', nextrun = '1970-01-02'",
		"bad-9": "starts = '0044-03-15 BC'", "bad-10": "created = 'infinity', timer = 'every 1s'",
	} {
		f.exec("UPDATE periodic_task SET " + change + " WHERE id = '" + id + "'")
	}
	f.exec("ALTER TABLE periodic_task ENABLE TRIGGER USER")
	f.onTime(f.found(`SELECT count(*) FROM periodic_task WHERE CASE
		WHEN id IN ('bad-1', 'bad-2', 'bad-3') THEN problem LIKE '%null%'
		WHEN id IN ('bad-4', 'bad-10') THEN problem IS NOT NULL
		WHEN id LIKE 'bad%' THEN due > now() AT TIME ZONE 'UTC' - interval '10 s' END`))
}
