package exchange

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// candidates makes jobs of groups that are named by letters, those of high
// priority by capital ones. Each is younger than those before it.
func candidates(letters string) (list []Candidate) {
	for i, letter := range letters {
		name := string(letter)
		list = append(list, Candidate{
			JID: name, Group: strings.ToLower(name), High: strings.ToLower(name) != name, Submitted: time.Unix(int64(i), 0),
		})
	}
	return list
}

// Jobs beyond a limit are left out, and those behind them are not.
func TestChooseKeepsLimits(t *testing.T) {
	limit := func(most int, names ...string) (list []jobqueue.Limit) {
		for _, name := range names {
			list = append(list, jobqueue.Limit{Scope: jobqueue.Scope{Kind: jobqueue.ScopeHandler, Name: name}, Max: most})
		}
		return list
	}
	for name, c := range map[string]struct {
		limits  map[string][]jobqueue.Limit // by the job's group
		running map[jobqueue.Scope]int
		waiting string
		chosen  string
	}{
		"none":                     {nil, nil, "aabb", "abab"},
		"of one group":             {map[string][]jobqueue.Limit{"a": limit(1, "t")}, nil, "aaabb", "abb"},
		"with jobs that run":       {map[string][]jobqueue.Limit{"a": limit(3, "t")}, map[jobqueue.Scope]int{{Kind: jobqueue.ScopeHandler, Name: "t"}: 2}, "aaab", "ab"},
		"full":                     {map[string][]jobqueue.Limit{"a": limit(2, "t")}, map[jobqueue.Scope]int{{Kind: jobqueue.ScopeHandler, Name: "t"}: 2}, "aaab", "b"},
		"more than full":           {map[string][]jobqueue.Limit{"a": limit(2, "t")}, map[jobqueue.Scope]int{{Kind: jobqueue.ScopeHandler, Name: "t"}: 5}, "aab", "b"},
		"of both groups":           {map[string][]jobqueue.Limit{"a": limit(2, "t"), "b": limit(2, "t")}, nil, "aabbc", "abc"},
		"of high priority":         {map[string][]jobqueue.Limit{"a": limit(1, "t")}, nil, "aAAb", "Ab"},
		"two, of which one allows": {map[string][]jobqueue.Limit{"a": append(limit(3, "t"), limit(1, "u")...)}, nil, "aaa", "a"},
		"of another kind":          {map[string][]jobqueue.Limit{"a": limit(1, "t")}, map[jobqueue.Scope]int{{Kind: jobqueue.ScopeGroup, Name: "t"}: 9}, "a", "a"},
	} {
		list := candidates(c.waiting)
		for i := range list {
			list[i].Limits = c.limits[list[i].Group]
		}
		before := len(c.running)
		jids, _ := Claim{Limit: 9, High: 3, Low: 1}.Choose(list, c.running)
		if got := strings.Join(jids, ""); got != c.chosen || len(c.running) != before {
			t.Errorf("%s: chosen %q, want %q; running %v", name, got, c.chosen, c.running)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		last    string
		phase   int
		waiting string
		limit   int
		chosen  string
		next    Turn
	}{
		{"", 0, "", 5, "", Turn{}},
		{"b", 2, "", 5, "", Turn{"b", 2}},
		{"", 0, "a", 5, "a", Turn{"a", 0}},
		{"a", 0, "b", 5, "b", Turn{"b", 0}},
		{"b", 0, "a", 5, "a", Turn{"a", 1}},      // around once
		{"a", 0, "a", 5, "a", Turn{"a", 1}},      // the only group
		{"a", 3, "a", 5, "a", Turn{"a", 0}},      // the scheme begins anew
		{"", 0, "abc", 5, "abc", Turn{"c", 0}},   // a turn each
		{"", 0, "aaaabc", 2, "ab", Turn{"b", 0}}, // the rest is for another claim
		{"b", 0, "abc", 5, "cab", Turn{"b", 1}},
		{"", 0, "aabbc", 5, "abcab", Turn{"b", 1}},
		{"a", 0, "aabbc", 5, "bcaba", Turn{"a", 2}},
		{"a", 0, "aab", 2, "ba", Turn{"a", 1}},
		{"", 0, "aaaaAAAA", 8, "AAAaAaaa", Turn{"a", 3}},
		{"", 1, "aaaaAAAA", 6, "AAaAAa", Turn{"a", 2}},
		{"", 3, "aaaaAAAA", 2, "aA", Turn{"a", 0}},
		{"", 0, "aaaa", 4, "aaaa", Turn{"a", 3}},
		{"", 3, "AA", 4, "AA", Turn{"a", 0}},
		{"", 0, "abAB", 4, "ABab", Turn{"b", 1}},
	} {
		claim := Claim{Limit: c.limit, Turn: Turn{c.last, c.phase}, High: 3, Low: 1}
		jids, next := claim.Choose(candidates(c.waiting), nil)
		if got := strings.Join(jids, ""); got != c.chosen || next != c.next {
			t.Errorf("after %q, phase %d, of %q: %q, then %+v; want %q, %+v", c.last, c.phase, c.waiting, got, next, c.chosen, c.next)
		}
	}
}
