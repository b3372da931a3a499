package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/explore"
)

// hinders reports whether to look, in each state, if a healthy process goes on from there.
func (f fence) hinders() bool {
	return slices.Contains([]fence{none, leaseEnd}, f)
}

// fences are what keeps a process from harm, and what goes wrong without it.
var fences = []struct {
	out    fence
	scene  string
	broken string
}{
	{version, "ahead", ruleEdit},
	{version, "ahead, other edits", ruleEdit},
	{version, "ahead, step by step", ruleEdit},
	{version, "overlapping", ruleForward},
	{version, "marks of others", ruleMark},
	{version, "SQLite, ahead", ruleEdit},
	{version, "a skip written ahead", ruleEdit},
	{serverStart, "a server that loses commits", ruleEdit},
	{othersMark, "marks of others", ruleMark},
	{othersMark, "marks of others, step by step", ruleMark},
	{leaseEnd, "marks of others", ruleLeft},
	{tickKey, "a clock set back", ruleOneJob},
	{pendingIndex, "a job of the user's", ruleOverlap},
	{openRow, "another queue", ruleOverlap},
	{rowLock, "what is due", ruleEdit},
	{guardCheck, "leader", ruleTerm},
	{guardShare, "leader", ruleTerm},
	{early, "ahead", ruleEarly},
	{early, "ahead", ruleLate},
}

// Without one of the fences the search finds what it prevents.
func TestFences(t *testing.T) {
	for _, f := range fences {
		t.Run(string(f.out)+", "+f.scene+", "+f.broken, func(t *testing.T) {
			i := slices.IndexFunc(scenes, func(s scene) bool { return s.name == f.scene })
			s := scenes[i].without(f.out)
			s.rules = []string{f.broken}
			r := explore.All(s.first(), explore.Bounds{States: 60_000})
			t.Logf("%s", &r)
			if !strings.HasPrefix(r.Broken, f.broken) {
				t.Fail()
			}
		})
	}
}
