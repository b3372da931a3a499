// Command runsql runs the statements on its standard input on a SQLite database, all or none of them,
// for machines without the sqlite3 program:
//
//	go run ./scripts/runsql DATABASE-FILE < SQL-FILE
//
// It knows nothing of nextrun but the driver that store brings.
package main

import (
	"database/sql"
	"errors"
	"io"
	"log"
	"os"

	_ "github.com/nextrun/nextrun/store/sqlite"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: runsql DATABASE-FILE < SQL-FILE")
	}
	statements, err := io.ReadAll(os.Stdin)
	db, failed := sql.Open("sqlite3", "file:"+os.Args[1]+"?mode=rw")
	if err := errors.Join(err, failed); err != nil {
		log.Fatal("runsql: ", err)
	}
	if _, err := db.Exec("BEGIN;\n" + string(statements) + "\n;COMMIT"); err != nil {
		log.Fatal("runsql: ", err) // the end of the connection rolls back
	}
	if err := db.Close(); err != nil {
		log.Fatal("runsql: ", err)
	}
}
