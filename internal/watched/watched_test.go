package watched_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/watched"
)

// A file is another one if it was renamed to its name, if a link on the way to it was, or if it was written; not while it
// may be half a file.
func TestReplacedFilesAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	age := func(name string, by time.Duration) { must(os.Chtimes(at(name), time.Time{}, time.Now().Add(-by))) }
	put := func(name, text string) { must(os.WriteFile(at(name), []byte(text), 0o600)); age(name, time.Minute) }
	put("plain", "old")
	must(os.Mkdir(at("..1"), 0o700))
	must(os.Mkdir(at("..2"), 0o700))
	put("..1/token", "old")
	put("..2/token", "old")
	must(os.Symlink("..1", at("..data")))
	must(os.Symlink("..data/token", at("token"))) // as Kubernetes mounts a secret
	var files watched.Files
	for _, name := range []string{"plain", "token", "missing"} {
		files.Add(at(name))
	}
	for _, step := range []struct {
		what string
		do   func()
		want bool
	}{
		{"nothing", func() {}, false},
		{"a rename", func() { put("new", "new"); must(os.Rename(at("new"), at("plain"))) }, true},
		{"nothing more", func() {}, false},
		{"another target of the link", func() { must(os.Symlink("..2", at("..tmp"))); must(os.Rename(at("..tmp"), at("..data"))) }, true},
		{"half a file", func() { put("plain", ""); age("plain", 0) }, false},
		{"the whole file", func() { put("plain", "newest") }, true},
		{"a file that is gone", func() { must(os.Remove(at("plain"))) }, false},
		{"a file that is there again", func() { put("plain", "again") }, true},
		{"a file that was missing", func() { put("missing", "x") }, true},
	} {
		step.do()
		if got := files.Changed(); got != step.want {
			t.Errorf("%s: changed is %t", step.what, got)
		}
	}
}
