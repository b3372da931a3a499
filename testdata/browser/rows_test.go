package browser_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// jobsPerTask is how many of the newest ticks of each task still have their jobs.
const jobsPerTask = 5

// logLines is how many lines the log of a job has: more than a page shows.
const logLines = 800

// fill adds tasks with ticks, one every 15 minutes. Some tasks are disabled, paused, or
// have a problem; some ticks were skipped, some jobs have failed. Each is one statement,
// so that millions take seconds.
func (s *site) fill(tasks, ticks int) {
	at := func(minutes string) string {
		return `strftime('%Y-%m-%d %H:%M:%f000', 'now', (` + minutes + `) || ' minutes')`
	}
	numbers := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d) ", n)
	}
	s.Exec(`CREATE TABLE past (n integer, at timestamp)`) // computed once
	s.Exec(`INSERT INTO past ` + numbers(ticks) + `SELECT n, ` + at("-15 * n") + ` FROM numbers`)
	s.Exec(`CREATE TABLE number (n integer, id varchar(254))`)
	s.Exec(`INSERT INTO number ` + numbers(tasks) + `SELECT n, 'task-' || substr(CAST(100000 + n AS varchar(6)), 2) FROM numbers`)

	s.Exec(`INSERT INTO periodic_task (id, task, group_, timer, nextrun, due, enabled, paused, paused_by, paused_reason)
		SELECT id, 'handler-' || (n % 50), 'group-' || (n % 20),
			CASE n % 5 WHEN 0 THEN 'hourly' WHEN 1 THEN 'daily' WHEN 2 THEN 'Mon..Fri 09:00 Europe/Berlin'
				WHEN 3 THEN '*:0/15' ELSE '*-*-* 02:30 America/New_York' END,
			` + at("n % 1440 + 30") + `, ` + at("n % 1440 + 30") + `, n % 97 <> 9,
			CASE WHEN n % 89 = 5 THEN ` + at("-90") + ` END, CASE WHEN n % 89 = 5 THEN 'grace' END,
			CASE WHEN n % 89 = 5 THEN 'the warehouse moves' END FROM number`)
	s.Exec(`UPDATE periodic_task SET problem = 'the timer cannot be read: unknown weekday "Mun"' WHERE id LIKE '%17'`)
	s.Exec(`INSERT INTO job (jid, task, group_, state, tracker, due, submitted, started, finished, result)
		SELECT t.id || '-' || p.n, t.task, t.group_, CASE WHEN (k.n + p.n) % 31 = 0 THEN 'failed' ELSE 'success' END, t.id,
			p.at, p.at, p.at, ` + at("k.n % 12 - 15 * p.n") + `, CASE WHEN (k.n + p.n) % 31 = 0 THEN 'no space left on device' END
		FROM number AS k JOIN periodic_task AS t ON t.id = k.id CROSS JOIN past AS p WHERE p.n <= ` + fmt.Sprint(jobsPerTask))
	skipped := `(k.n + p.n) % 17 = 0 AND p.n > ` + fmt.Sprint(jobsPerTask)
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided)
		SELECT k.id, p.at, CASE WHEN ` + skipped + ` THEN 'skipped' ELSE 'submitted' END,
			CASE WHEN ` + skipped + ` THEN 'its last job still runs' END,
			CASE WHEN p.n <= ` + fmt.Sprint(jobsPerTask) + ` THEN k.id || '-' || p.n END, p.at
		FROM number AS k CROSS JOIN past AS p`)
	s.Exec(`INSERT INTO joblog (id, jid, level, created, message, counter) ` + numbers(logLines) +
		`SELECT 'line-' || n, 'task-00001-1', 'info', ` + at("-15") + `, 'line ' || n || ' of the log', n FROM numbers`)
	s.Exec(`DROP TABLE past`)
	s.Exec(`DROP TABLE number`)
	s.Want(tasks*ticks, `SELECT count(*) FROM periodic_tick`)
}

// furnish makes the month of the shop that ends now.
func furnish(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile("../../scripts/shop/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	const clock = `strftime('%Y-%m-%d %H:%M:%S', 'now')`
	if !bytes.Contains(text, []byte(clock)) {
		t.Fatal("shop.sql takes its time from elsewhere")
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // its temporary tables are of one connection
	if _, err := db.ExecContext(t.Context(), strings.Replace(string(text), clock, time.Now().UTC().Format("'"+time.DateTime+"'"), 1)); err != nil {
		t.Fatal(err)
	}
}
