package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the page says of keys is about keys that there are: the sample has all of them, see
// TestSampleConfigurationIsComplete.
func TestReferenceHasNoOtherKeys(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Configuration\n")
	if !found {
		t.Fatal("docs/reference.md has no section Configuration")
	}
	sample, n := readSample(t), 0
	for _, match := range regexp.MustCompile("(?m)^- `([a-z_.]+)`").FindAllStringSubmatch(section, -1) {
		for key := range strings.SplitSeq(match[1], ".") {
			n++
			if !regexp.MustCompile(`\b` + key + `\b`).MatchString(sample) {
				t.Errorf("docs/reference.md explains %s, which testdata/nextrun.yaml has not", match[1])
			}
		}
	}
	if n < 10 {
		t.Errorf("found %d keys only", n)
	}
}
