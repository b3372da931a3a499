package main_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Go in the README and in docs/ is a part of examples, which the compiler and
// the tests know.
func TestExamplesOfPages(t *testing.T) {
	t.Parallel()
	dedent := func(text string) string {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return strings.Join(lines, "\n")
	}
	found := map[string]int{}
	for _, page := range pages(t) {
		for _, b := range blocksOf(t, page) {
			if b.language != "go" || b.do == "file" { // files of programs that other tests build
				continue
			}
			found[filepath.Base(page)]++
			if b.do != "example" {
				t.Errorf("%s: no comment names the file of this example:\n%s", page, b.text)
			} else if source := readFile(t, "../../"+b.about); !strings.Contains(dedent(source), dedent(b.text)) {
				t.Errorf("%s: this is not in %s:\n%s", page, b.about, b.text)
			}
		}
	}
	if found["embedding.md"] < 3 || found["events.md"] < 2 {
		t.Errorf("found %v examples only", found)
	}
}

func helps(t *testing.T, words ...string) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	exit := cli.Run(t.Context(), append([]string{"help"}, words...), strings.NewReader(""), &out, io.Discard, os.Getenv)
	return out.String(), exit == ui.Done
}

// pages are the README and those in docs/ and below.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md", "../../docs/*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %d pages, %v", pattern, len(found), err)
		}
		list = append(list, found...)
	}
	return list
}

var pathInPage = regexp.MustCompile("`((?:[a-z]+/)+[a-z_]*(?:\\.(?:go|sql|yaml|md))?)`")

// The files and directories that pages for contributors name are there.
func TestPathsOfPages(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range append(pages(t), "../../CONTRIBUTING.md") {
		for _, match := range pathInPage.FindAllStringSubmatch(readFile(t, page), -1) {
			top, _, _ := strings.Cut(match[1], "/")
			if _, err := os.Stat(filepath.Join("..", "..", top)); err != nil || top == "bin" {
				continue // a package of the standard library, or what is built
			}
			n++
			if _, err := os.Stat(filepath.Join("..", "..", match[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if n < 30 {
		t.Errorf("found %d paths only", n)
	}
}

// The licences that packages and images bring along are those of what is linked.
func TestLicencesAreThoseOfWhatIsLinked(t *testing.T) {
	t.Parallel()
	command := exec.Command("scripts/licenses")
	command.Dir = "../.."
	text, err := command.Output()
	if err != nil {
		t.Fatalf("scripts/licenses: %v", err)
	}
	if string(text) != readFile(t, "../../dist/licenses.txt") {
		t.Error("dist/licenses.txt is not what is linked now; run: make licenses")
	}
}

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
