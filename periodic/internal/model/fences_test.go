package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/explore"
)

// hinders reports whether to look, in each state, if a healthy process goes on from there.
func (f fence) hinders() bool {
	return slices.Contains([]fence{none, leaseEnd, sessionEnd, readyPolicy, queueNote}, f)
}

// fences are what keeps a process from harm, and what goes wrong without it.
var fences = []struct {
	out    fence
	scene  string
	broken string
}{
	{markCheck, "marks that are lost", ruleMark},
	{markCheck, "marks that are lost", ruleForward},
	{leaseEnd, "marks that are lost", ruleLeft},
	{tickKey, "a clock set back", ruleOneJob},
	{pendingIndex, "a job of the user's", ruleOverlap},
	{openRow, "another queue", ruleOverlap},
	{rowLock, "one transaction", ruleEdit},
	{guardCheck, "leader", ruleTerm},
	{guardShare, "leader", ruleTerm},
	{editTrigger, "marks", ruleEdit},
	{pauseTrigger, "marks, other edits", ruleEdit},
	{early, "prepared", ruleEarly},
	{early, "prepared", ruleLate},
	{readyPolicy, "the end of a job", ruleQueued},
	{queueNote, "the end of a job", ruleQueued},
}

// Without one of the fences the search finds what it prevents.
func TestFences(t *testing.T) {
	for _, f := range fences {
		t.Run(string(f.out)+", "+f.broken, func(t *testing.T) {
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
