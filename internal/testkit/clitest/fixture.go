package clitest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// OnBoth runs a test with an empty database of each kind.
func OnBoth(t *testing.T, test func(t *testing.T, s Shell)) {
	t.Helper()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) { test(t, shell(d)) })
}

func shell(d *storetest.Database) Shell {
	return Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_NAME": "test"}}
}

// OnBothMigrated is OnBoth with the tables made.
func OnBothMigrated(t *testing.T, test func(t *testing.T, s Shell)) {
	t.Helper()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		test(t, shell(d.Database))
	})
}

// OnOne runs a test with the tables in one database, for what no database makes different.
func OnOne(t *testing.T, test func(t *testing.T, s Shell)) {
	t.Helper()
	test(t, shell(migrated.New(t, storetest.SQLite).Database))
}

// WriteFile writes a file of the test's and returns its path.
func WriteFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
