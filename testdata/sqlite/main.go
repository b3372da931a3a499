// Sqlite does with a database of nextrun what people do with a sqlite3 program, by the
// SQLite that the driver of its go.mod holds. scripts/test-versions builds it.
package main

import (
	"database/sql"
	"fmt"
	"os"

	"github.com/mattn/go-sqlite3"
)

func main() {
	version, _, _ := sqlite3.Version()
	if err := use(os.Args[1]); err != nil {
		fmt.Printf("SQLite %s: %v\n", version, err)
		os.Exit(1)
	}
	fmt.Printf("SQLite %s: reads all tables and views, adds, changes and deletes tasks\n", version)
}

func use(path string) error {
	db, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=5000")
	if err != nil {
		return err
	}
	defer db.Close()
	var names []string
	rows, err := db.Query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(names) < 10 {
		return fmt.Errorf("found %d tables and views only", len(names))
	}
	for _, name := range names {
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM (SELECT * FROM "` + name + `")`).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, statement := range []string{
		"INSERT INTO periodic_task (id, task, timer, args) VALUES ('old', 'x', 'daily', '{\"a\": 1}'), ('gone', 'x', 'daily', 'no JSON')",
		"UPDATE periodic_task SET timer = 'weekly', paused = '2026-01-01 00:00:00.000000' WHERE id = 'old'",
		"UPDATE periodic_task SET paused = NULL WHERE id = 'old'",
		"DELETE FROM periodic_task WHERE id = 'gone'",
		"INSERT INTO job (task, args, tracker) VALUES ('x', '{}', 'old')",
		"UPDATE job SET cancel = '2026-01-01 00:00:00.000000'",
		"DELETE FROM job",
	} {
		if _, err := db.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	var whole string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&whole); err != nil || whole != "ok" {
		return fmt.Errorf("integrity_check: %s, %w", whole, err)
	}
	return nil
}
