package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
			if b.language != "go" {
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
	if found["README.md"] < 2 || found["events.md"] < 2 {
		t.Errorf("found %v examples only", found)
	}
}

// pages are the README and those in docs/.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(docs, "../../README.md")
}

var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

func TestLinksOfPages(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(readFile(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), match[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
