package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
	program, other := filepath.Join(dir, "greeter"), filepath.Join(t.TempDir(), "greeter")
	overlaid(t, dir, program)
	write(t, filepath.Join(filepath.Dir(other), "main.go"), strings.Replace(readFile(t, filepath.Join(dir, "main.go")), "every 1s", "every 3s", 1))
	overlaid(t, filepath.Dir(other), other)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		var outputs []*output // of ten instances that start at once, on an empty database
		for range 10 {
			outputs = append(outputs, startProgram(t, program, "GREETER_DB="+d.URL))
		}
		for _, o := range outputs {
			storetest.Eventually(t, "tasks", func() bool { return strings.Contains(o.String(), "2 tasks declared") })
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
		outputs = append(outputs, startProgram(t, program, "GREETER_DB="+d.URL))
		storetest.Eventually(t, "a second start", func() bool { return strings.Contains(outputs[10].String(), "0 added, 0 changed") })
		// A build that declares another timer, and then the one from before: the last start wins.
		for _, last := range []struct{ path, timer string }{{other, "every 3s"}, {program, "every 1s"}} {
			startProgram(t, last.path, "GREETER_DB="+d.URL)
			storetest.Eventually(t, last.timer, func() bool { return d.One("SELECT timer FROM periodic_task WHERE id = 'greet'") == last.timer })
		}
		added := 0
		for _, o := range outputs {
			added += strings.Count(o.String(), "2 added")
		}
		if twice := d.One("SELECT count(*) - count(DISTINCT tracker || due) FROM job WHERE due IS NOT NULL"); added != 1 || twice != "0" {
			t.Errorf("%d instances added the tasks, and %s jobs are doubled", added, twice)
		}
	})
}

// overlaid builds a program of the Go files of a directory, as if they were a package of this module.
func overlaid(t *testing.T, dir, program string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	replace := map[string]string{}
	for _, file := range files {
		replace[filepath.Join(here, "tutorial", filepath.Base(file))] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	command := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./tutorial")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// startProgram runs a program until the test ends; it must end by itself then.
func startProgram(t *testing.T, path, environment string) *output {
	t.Helper()
	out := &output{}
	command := exec.Command(path)
	command.Env = append(os.Environ(), environment)
	command.Stdout, command.Stderr = out, out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	})
	return out
}
