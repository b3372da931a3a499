package storetest_test

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestTemplateIsFilledOnceAndCopied(t *testing.T) {
	storetest.Need(t, storetest.Postgres)
	var fills atomic.Int64
	template := storetest.NewTemplate(func(url string) error {
		fills.Add(1)
		d := storetest.At(t, url)
		d.Exec("CREATE TABLE word (text text); INSERT INTO word VALUES ('first')")
		return d.SQL.Close()
	})
	var kinds atomic.Int64
	storetest.Kinds(t, func(t *testing.T, kind string) {
		kinds.Add(1)
		one, other := template.New(t, kind), template.New(t, kind)
		one.Exec("UPDATE word SET text = 'changed'")
		other.Want("first", "SELECT text FROM word")
	})
	t.Cleanup(func() { // after the parallel subtests
		if n := fills.Load(); n != kinds.Load() {
			t.Errorf("filled %d times, want once for each kind", n)
		}
	})
}

func TestTemplateLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	admin := storetest.New(t, storetest.Postgres)
	name := ""
	template := storetest.NewTemplate(func(url string) error {
		d := storetest.At(t, url)
		d.Exec("CREATE TABLE word (text text)")
		if d.Kind == storetest.Postgres {
			name = d.One("SELECT current_database()")
		}
		return d.SQL.Close()
	})
	if err := template.Drop(); err != nil {
		t.Errorf("dropped unused: %v", err)
	}
	t.Run("use", func(t *testing.T) {
		template.New(t, storetest.Postgres)
		template.New(t, storetest.SQLite)
	})
	admin.Want(1, "SELECT count(*) FROM pg_database WHERE datname = ?", name)
	if err := template.Drop(); err != nil {
		t.Error(err)
	}
	admin.Want(0, "SELECT count(*) FROM pg_database WHERE datname = ?", name)
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "nextrun-template") {
			t.Errorf("left %s", entry.Name())
		}
	}
}
