module github.com/nextrun/nextrun/testdata/sqlite

go 1.26.0

require github.com/mattn/go-sqlite3 v1.14.6 // SQLite 3.34.0, the newest that does not
