package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The program of the tutorial about embedding compiles, and it greets whom the tutorial's row names.
func TestTutorialOfEmbedding(t *testing.T) {
	t.Parallel()
	const page = "../../docs/tutorials/embedding.md"
	dir := t.TempDir()
	for _, b := range readmeBlocks(t) {
		if b.do == "file" {
			write(t, filepath.Join(dir, b.about), b.text)
		}
	}
	own, changed := filepath.Join(dir, "main.go"), filepath.Join(t.TempDir(), "main.go")
	write(t, changed, strings.Replace(readFile(t, own), "every 1s", "every 3s", 1))
	greeter, other := program.Overlaid(t, own), program.Overlaid(t, changed)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		var outputs []*program.Process // of ten instances that start at once, on an empty database
		for range 10 {
			outputs = append(outputs, startGreeter(t, greeter, d.URL))
		}
		for _, o := range outputs {
			storetest.Eventually(t, "tasks", func() bool { return strings.Contains(o.Said(), "2 tasks declared") })
		}
		reader := newReader(t, d, dir)
		for _, b := range blocksOf(t, page) {
			if b.language == "sql" {
				reader.follow(b)
			}
		}
		for _, name := range []string{"Ada", "Bob"} {
			storetest.Eventually(t, "a greeting of "+name, func() bool {
				return d.One("SELECT count(*) FROM job WHERE state = 'success' AND result = 'greeted "+name+"'") != "0"
			})
		}
		outputs = append(outputs, startGreeter(t, greeter, d.URL))
		storetest.Eventually(t, "a second start", func() bool { return strings.Contains(outputs[10].Said(), "0 added, 0 changed") })
		// A build that declares another timer, and then the one from before: the last start wins.
		for _, last := range []struct{ path, timer string }{{other, "every 3s"}, {greeter, "every 1s"}} {
			startGreeter(t, last.path, d.URL)
			storetest.Eventually(t, last.timer, func() bool { return d.One("SELECT timer FROM periodic_task WHERE id = 'greet'") == last.timer })
		}
		added := 0
		for _, o := range outputs {
			added += strings.Count(o.Said(), "2 added")
		}
		if twice := d.One("SELECT count(*) - count(DISTINCT tracker || due) FROM job WHERE due IS NOT NULL"); added != 1 || twice != "0" {
			t.Errorf("%d instances added the tasks, and %s jobs are doubled", added, twice)
		}
	})
}

// startGreeter runs a program until the test ends; it must end by itself then.
func startGreeter(t *testing.T, path, url string) *program.Process {
	t.Helper()
	command := exec.Command(path)
	command.Env = append(os.Environ(), "GREETER_DB="+url)
	p := program.Start(t, command)
	t.Cleanup(func() {
		p.Signal(syscall.SIGTERM)
		if exit := p.End(); exit != 0 {
			t.Errorf("exit code %d\n%s", exit, p.Said())
		}
	})
	return p
}
