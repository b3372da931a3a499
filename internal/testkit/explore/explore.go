// Package explore searches the states of a model for one that breaks a rule: all states up
// to a depth, with the shortest way to the first bad one, or random ways through them.
//
// A state is a value that is never changed: an action returns a new one. Package explore
// knows nothing of what the states mean.
package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// State is a state of a model.
type State[S any] interface {
	// Key identifies the state. States that cannot be told apart by what follows may share
	// one.
	Key() [16]byte
	// Actions returns what can happen next, in an order that depends on the state only.
	Actions() []Action[S]
	// Broken says which rule the state breaks; empty: none.
	Broken() string
}

// Action is something that can happen.
type Action[S any] struct {
	Name string // in words
	Next func() S
}

// Bounds limit a search. Zero means no limit.
type Bounds struct {
	Depth  int // actions from the start
	States int
}

// Report is what a search has seen.
type Report struct {
	States      int  // that differ
	Transitions int  // actions tried
	Depth       int  // actions of the longest way
	Complete    bool // there are no more states within the depth
	Broken      string
	Trace       []string // the actions that lead to the broken rule
}

// String says it in words.
func (r *Report) String() string {
	text := fmt.Sprintf("%d states, %d transitions, depth %d", r.States, r.Transitions, r.Depth)
	if r.Complete {
		text += ", complete"
	}
	if r.Broken == "" {
		return text
	}
	return text + "\nbroken: " + r.Broken + "\n" + Steps(r.Trace)
}

// Steps writes a trace, one numbered line for each action.
func Steps(trace []string) string {
	var b strings.Builder
	for i, step := range trace {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, step)
	}
	return b.String()
}

// node is how a state was reached. The state itself is dropped when it has been expanded.
type node struct {
	parent int32
	action int32
}

// All visits the states breadth first, so the trace of what it finds is a shortest one.
func All[S State[S]](start S, b Bounds) Report {
	seen := map[[16]byte]struct{}{start.Key(): {}}
	nodes := []node{{parent: -1}}
	level, ids := []S{start}, []int32{0}
	r := Report{States: 1, Broken: start.Broken()}
	for r.Broken == "" && len(level) > 0 && (b.Depth == 0 || r.Depth < b.Depth) {
		var next []S
		var nextIDs []int32
		for i, s := range level {
			level[i] = *new(S) // it may be large
			for n, a := range s.Actions() {
				r.Transitions++
				reached := a.Next()
				key := reached.Key()
				if _, known := seen[key]; known {
					continue
				}
				seen[key] = struct{}{}
				nodes = append(nodes, node{ids[i], int32(n)})
				r.States++
				if r.Broken = reached.Broken(); r.Broken != "" {
					r.Depth++
					r.Trace = trace(start, nodes, int32(len(nodes)-1))
					return r
				}
				if b.States > 0 && r.States >= b.States {
					r.Depth++
					return r
				}
				next, nextIDs = append(next, reached), append(nextIDs, int32(len(nodes)-1))
			}
		}
		if len(next) > 0 {
			r.Depth++
		}
		level, ids = next, nextIDs
	}
	r.Complete = r.Broken == ""
	return r
}

// trace names the actions that lead to a node, by doing them again.
func trace[S State[S]](start S, nodes []node, to int32) []string {
	var way []int32
	for ; nodes[to].parent >= 0; to = nodes[to].parent {
		way = append(way, nodes[to].action)
	}
	slices.Reverse(way)
	var names []string
	for _, n := range way {
		a := start.Actions()[n]
		names = append(names, a.Name)
		start = a.Next()
	}
	return names
}

// Random takes random ways from the start, each of at most so many actions as the depth
// says, until it has made as many transitions as States says. It shortens the way to a
// broken rule by leaving out actions. The same seed takes the same ways.
func Random[S State[S]](start S, seed uint64, b Bounds) Report {
	seen := map[[16]byte]struct{}{start.Key(): {}}
	r := Report{}
	for way := uint64(0); r.Broken == "" && r.Transitions < b.States; way++ {
		rng := rand.New(rand.NewPCG(seed, way))
		s, depth := start, 0
		var names []string
		for ; depth < b.Depth; depth++ {
			actions := s.Actions()
			if len(actions) == 0 {
				break
			}
			a := actions[rng.IntN(len(actions))]
			names = append(names, a.Name)
			s = a.Next()
			r.Transitions++
			if _, known := seen[s.Key()]; known {
				continue // it has been judged
			}
			seen[s.Key()] = struct{}{}
			if r.Broken = s.Broken(); r.Broken != "" {
				r.Trace = shorten(start, names)
				break
			}
		}
		r.Depth = max(r.Depth, depth)
	}
	r.States = len(seen)
	return r
}

// shorten leaves out actions as long as a rule is still broken at the end.
func shorten[S State[S]](start S, names []string) []string {
	for size := len(names) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(names); {
			less := slices.Delete(slices.Clone(names), from, from+size)
			if n, broken := follow(start, less); broken {
				names = less[:n]
			} else {
				from++
			}
		}
	}
	return names
}

// follow does the named actions in their order. It returns after how many a rule is broken.
func follow[S State[S]](s S, names []string) (int, bool) {
	for i, name := range names {
		actions := s.Actions()
		n := slices.IndexFunc(actions, func(a Action[S]) bool { return a.Name == name })
		if n < 0 {
			return 0, false
		}
		if s = actions[n].Next(); s.Broken() != "" {
			return i + 1, true
		}
	}
	return 0, false
}
