package main_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// From the index, a reader is at each page within two clicks. That its links lead
// somewhere is for TestLinksOfPages.
func TestIndexOfPages(t *testing.T) {
	t.Parallel()
	const index = "../../docs/index.md"
	near := map[string]bool{index: true}
	add := func(from string) {
		for _, target := range linksOf(readFile(t, from)) {
			path, _, _ := strings.Cut(target, "#")
			if filepath.Ext(path) == ".md" && !strings.Contains(path, ":") {
				near[filepath.Join(filepath.Dir(from), path)] = true
			}
		}
	}
	add(index)
	first := make([]string, 0, len(near))
	for page := range near {
		first = append(first, page)
	}
	for _, page := range first {
		add(page)
	}
	for _, page := range pages(t) {
		if !near[page] {
			t.Errorf("%s is more than two clicks away from the index", page)
		}
	}
}

// The index answers thirty questions or more, each with a link.
func TestQuestionsOfPages(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range strings.SplitSeq(readFile(t, "../../docs/index.md"), "\n") {
		question, answer, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || !strings.Contains(question, "?") {
			continue
		}
		n++
		if len(linksOf(answer)) == 0 {
			t.Errorf("no link answers %q", question)
		}
	}
	if n < 30 {
		t.Errorf("found %d questions only", n)
	}
}
