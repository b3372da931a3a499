package main_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
