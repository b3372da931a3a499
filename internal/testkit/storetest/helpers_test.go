package storetest_test

import (
	"database/sql"
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test whose end by Fatal is observed instead of carried out.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Fatal(args ...any) {
	r.message = fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

// record returns what action said when it ended the test, or "".
func (r *recorder) record(action func()) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		action()
	}()
	<-done
	return r.message
}

func connect(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// query returns the one value that a statement yields.
func query[V any](t *testing.T, db *sql.DB, statement string, args ...any) (value V) {
	t.Helper()
	if err := db.QueryRow(statement, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}
