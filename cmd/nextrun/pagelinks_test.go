package main_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// Each link of each Markdown file leads to a file that exists and, behind #, to one of
// its headings. Links to other sites are only read, since tests need no network.
func TestLinksOfPages(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range markdown(t, "../..") {
		for _, target := range linksOf(readFile(t, page)) {
			n++
			if err := resolve(t, page, target); err != nil {
				t.Errorf("%s: link %s: %v", page, target, err)
			}
		}
	}
	if n < 300 {
		t.Errorf("found %d links only", n)
	}
}

// markdown lists the Markdown files of the repository.
func markdown(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name == ".git"):
			return filepath.SkipDir
		case filepath.Ext(name) == ".md" && !entry.IsDir():
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var (
	link      = regexp.MustCompile(`\]\(([^)]+)\)`)
	code      = regexp.MustCompile("(?ms)^```.*?\n```$|`[^`\n]+`|^    .*?$")
	reference = regexp.MustCompile(`(?m)^\[[^\]]+\]: (.+)$`)
)

func linksOf(text string) (targets []string) {
	text = code.ReplaceAllStringFunc(text, func(c string) string {
		if strings.HasPrefix(c, "`") && !strings.HasPrefix(c, "```") {
			return c // may be the text of a link
		}
		return ""
	})
	for _, pattern := range []*regexp.Regexp{link, reference} {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			targets = append(targets, match[1])
		}
	}
	return targets
}

func resolve(t *testing.T, page, target string) error {
	t.Helper()
	if strings.Contains(target, ":") {
		return external(target)
	}
	path, anchor, _ := strings.Cut(target, "#")
	switch {
	case strings.HasPrefix(path, "/"):
		return fmt.Errorf("should be relative to its page")
	case path == "":
		path = page
	default:
		path = filepath.Join(filepath.Dir(page), path)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("find it: %w", err)
	}
	if anchor != "" && filepath.Ext(path) == ".md" && !anchors(readFile(t, path))[anchor] {
		return fmt.Errorf("%s has no heading for it", path)
	}
	return nil
}

func external(target string) error {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return fmt.Errorf("read it: %w", err)
	case u.Scheme == "mailto", u.Host == "127.0.0.1:8320":
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("should use https")
	case u.Host == "":
		return fmt.Errorf("has no host")
	}
	return nil
}

var heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)

// anchors are the names that GitHub gives to the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	text = regexp.MustCompile("(?ms)^```.*?\n```$").ReplaceAllString(text, "")
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(match[1], "$1")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, title)
		unique := name
		for i := 1; found[unique]; i++ {
			unique = fmt.Sprintf("%s-%d", name, i)
		}
		found[unique] = true
	}
	return found
}
