package sqldb

import (
	"context"
	"strconv"

	"github.com/nextrun/nextrun/migrations"
)

// Said is what the database itself said in an error, without what this module and
// the driver put around it.
type Said struct {
	Code     string // SQLSTATE; empty on SQLite
	Message  string // empty if the error is not the database's
	Detail   string // more about it; may be empty
	Position int    // the character of the statement that it is about, from 1; 0: not known
}

// Say finds out what the database said.
func Say(err error) Said {
	if f, ok := postgresFailureOf(err); ok {
		position, _ := strconv.Atoi(f.position) // empty: not known
		return Said{Code: f.code, Message: f.message, Detail: f.detail, Position: position}
	}
	if f, ok := sqliteFailureOf(err); ok {
		return Said{Message: f.text}
	}
	return Said{}
}

// Classify wraps an error of a statement that was run on a bare transaction of
// this database with the sentinel error that applies.
func (db *DB) Classify(ctx context.Context, err error) error { return db.classify(ctx, err) }

// IsSQLite reports whether the database is a SQLite file.
func (db *DB) IsSQLite() bool { return db.words.dialect == migrations.SQLite }
