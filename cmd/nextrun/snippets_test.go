package main_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
)

// book are the pages that TestBook follows.
var book = []string{"backup.md", "docspell.md", "events.md", "faq.md", "hooks.md", "import.md", "operations.md", "queues.md", "scaling.md"}

// elsewhere are the pages whose blocks other tests follow.
var elsewhere = []string{"README.md", "tasks.md", "timers.md", "permissions.md", "embedding.md", "pgx.md", "monitoring.md"}

// A reader who does what a page of the book says gets what it promises.
func TestBook(t *testing.T) {
	t.Parallel()
	binary := build(t)
	for _, page := range book {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			if page == "docspell.md" { // which begins without nextrun's tables
				d := storetest.New(t, storetest.Postgres)
				d.Exec(readFile(t, "../../testdata/docspell/postgres.sql"))
				read(t, d, page, filepath.Dir(binary))
				return
			}
			storetest.Both(t, func(t *testing.T, d *storetest.Database) {
				nextrun(t, d.URL, ui.Done, "migrate", "up")
				switch page {
				case "backup.md":
					storetest.Client(t, d.Kind)
				case "queues.md":
					river(t, d)
				}
				read(t, d, page, filepath.Dir(binary))
			})
		})
	}
}

// river makes River's tables, as River itself does.
func river(t *testing.T, d *storetest.Database) {
	t.Helper()
	for _, level := range []string{"6", "7"} {
		d.Exec(readFile(t, "../../store/queues/testdata/river_"+d.Kind+"_"+level+".sql"))
	}
}

func read(t *testing.T, d *storetest.Database, page, path string) {
	t.Helper()
	reader := newReader(t, d, path)
	for _, b := range blocksOf(t, "../../docs/"+page) {
		reader.follow(b)
	}
}

// Each block of code of each page runs in a test, or says why it does not.
func TestSnippetsOfPages(t *testing.T) {
	t.Parallel()
	known := []string{"run", "file", "example", "not run", "timers", "elapses", "configuration", "mapping"}
	for _, page := range pages(t) {
		name := strings.TrimPrefix(page, "../../docs/")
		for _, b := range blocksOf(t, page) {
			switch followed := slices.Contains(book, name) || slices.Contains(elsewhere, filepath.Base(name)); {
			case b.language == "text":
			case !slices.Contains(known, b.do):
				t.Errorf("%s: no comment says what to do with this block:\n%s", page, b.text)
			case b.do == "not run" && b.about == "":
				t.Errorf("%s: the comment does not say why this block is not run:\n%s", page, b.text)
			case b.do == "timers":
				readTimers(t, page, b)
			case (b.do == "run" || b.do == "file") && !followed:
				t.Errorf("%s: add the page to TestBook, so that this block runs:\n%s", page, b.text)
			}
			if b.do == "configuration" || b.do == "file" && filepath.Ext(b.about) == ".yaml" {
				readConfiguration(t, page, b)
			}
		}
	}
}

func readConfiguration(t *testing.T, page string, b block) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nextrun.yaml")
	write(t, path, b.text)
	if _, err := config.Read(path, func(string) string { return "" }); err != nil && !strings.Contains(b.text, "timer:") { // a file of tasks
		t.Errorf("%s: %v in\n%s", page, err, b.text)
	}
}

// readTimers reads the lines of a block, each of which has a timer and a comment.
func readTimers(t *testing.T, page string, b block) {
	t.Helper()
	for line := range strings.Lines(b.text) {
		timer, _, found := strings.Cut(line, "  ")
		if _, err := calendar.Parse(timer); err != nil || !found {
			t.Errorf("%s: %s: %v", page, line, err)
		}
	}
}

var (
	commandLine = regexp.MustCompile("(?m)(?:^|    |`|\\$ |&& |; )nextrun ([a-z-][^\n`]*)")
	inline      = regexp.MustCompile("`nextrun [^`\n]*`")
	indented    = regexp.MustCompile(`(?m)^    .*$`)
	flagOf      = regexp.MustCompile(`(?:^| )(--[a-z-]+)`)
)

// The commands in text and in blocks, also in those that are not run, are there, with the flags that the pages give them.
func TestFlagsOfPages(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range append(pages(t), "../../CONTRIBUTING.md", "../../CHANGELOG.md", "../../SECURITY.md") {
		text := readFile(t, page)
		code := strings.Join(append(indented.FindAllString(text, -1), inline.FindAllString(text, -1)...), "\n")
		for _, b := range blocksOf(t, page) {
			if b.language == "sh" {
				code += "\n" + b.text
			}
		}
		for _, match := range commandLine.FindAllStringSubmatch(code, -1) {
			line, _, _ := strings.Cut(match[1], " #")
			line = regexp.MustCompile(`'[^']*'`).ReplaceAllString(line, "X")
			help := helpOf(t, line)
			for _, flag := range flagOf.FindAllStringSubmatch(line, -1) {
				n++
				if !regexp.MustCompile(flag[1] + `\b`).MatchString(help) {
					t.Errorf("%s: there is no flag %s in: nextrun %s", page, flag[1], line)
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("found %d flags only", n)
	}
}

// helpOf is the help for the command of a line: its words, without flags that all
// commands have and their values.
func helpOf(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(regexp.MustCompile(`^(--[a-z-]+[ =][^ ]+ )+`).ReplaceAllString(line, ""))
	for n := min(2, len(words)); n > 0; n-- {
		help, found := helps(t, words[:n]...)
		if found && (n == len(words) || strings.HasPrefix(words[n], "-") || !strings.Contains(help, "Available Commands")) {
			return help
		}
	}
	t.Errorf("there is no command in: nextrun %s", line)
	return ""
}

// The manifests for Kubernetes start commands that there are, with their flags.
func TestManifests(t *testing.T) {
	t.Parallel()
	n := 0
	for text := range strings.SplitSeq(readFile(t, "../../dist/kubernetes/nextrun.yaml"), "\n---\n") {
		var m struct {
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Args []string } }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for _, c := range m.Spec.Template.Spec.Containers {
			n++
			help := helpOf(t, strings.Join(c.Args, " "))
			for _, arg := range c.Args {
				if strings.HasPrefix(arg, "--") && !strings.Contains(help, arg) {
					t.Errorf("%q: there is no flag %s", c.Args, arg)
				}
			}
		}
	}
	if n != 3 {
		t.Errorf("found %d containers", n)
	}
}
