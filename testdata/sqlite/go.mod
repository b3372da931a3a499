module github.com/nextrun/nextrun/testdata/sqlite

go 1.26.0

require github.com/mattn/go-sqlite3 v1.14.7 // SQLite 3.35.4, the oldest that works
