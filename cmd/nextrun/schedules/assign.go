package schedules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/periodic"
)

// Target says what the tasks of an import have in common.
type Target struct {
	Kind    string
	Kinds   []string      // the names of all kinds, to say where rows come from
	Prefix  string        // before all ids; empty: none
	Sink    periodic.Sink // of all jobs
	Handler string        // of the configuration file, for all jobs; empty: one for each entry
}

// OwnHandlers reports whether each entry gets a handler of its own name.
func (t *Target) OwnHandlers() bool { return t.Handler == "" && t.Sink == periodic.SinkJob }

// Assign gives the entries ids, submitters, subjects and handlers. rows are those of
// the table. An entry keeps the id that it got earlier. A name that a row of another
// origin has, or whose handler would run such a row's jobs, is passed over for a longer
// one: in the end that of the kind in front of it. If they are taken as well, the item
// is refused.
func Assign(items []Item, rows []periodic.Task, t Target) {
	a := assigner{Target: t, rows: map[string]*periodic.Task{}, handlers: map[string][]*periodic.Task{},
		used: map[string]*Entry{}, shared: map[string]string{}, numbers: map[numbered]int{}}
	for i := range rows {
		a.rows[rows[i].ID] = &rows[i]
		a.handlers[rows[i].Task] = append(a.handlers[rows[i].Task], &rows[i])
	}
	for i := range items {
		if items[i].Entry != nil {
			a.assign(&items[i])
		}
	}
}

// assigner knows which ids and handlers are taken, and by whom.
type assigner struct {
	Target
	rows     map[string]*periodic.Task
	handlers map[string][]*periodic.Task // by the handler that runs their jobs
	used     map[string]*Entry
	shared   map[string]string // handlers, by Entry.Shares
	numbers  map[numbered]int  // the last number of a name
}

// numbered is a name that several entries want; see [assigner.of].
type numbered struct {
	name   string
	origin Origin
	last   bool
}

func (a *assigner) assign(item *Item) {
	e := item.Entry
	id, why := a.choose(e)
	if id == "" {
		item.Entry, item.Changed = nil, nil
		item.Refused = why + "; import with --prefix NAME, which gives tasks and handlers other names"
		return
	}
	a.used[id] = e
	e.Task.ID, e.Task.Task = id, id
	e.Task.Submitter, e.Task.Subject, e.Task.Sink = a.Kind, e.Origin.Subject(), a.Sink
	if e.Shares != "" {
		if first := a.shared[e.Shares]; first != "" {
			e.Task.Task = first
		} else {
			a.shared[e.Shares] = id
		}
	}
	if a.Handler != "" {
		e.Task.Task = a.Handler
	}
}

// choose returns the id that an entry has already, or else the first one that is
// free. If none is, it says why.
func (a *assigner) choose(e *Entry) (id, why string) {
	var free string
	names := a.names(e)
	for i, name := range names {
		id, reason := a.of(name, e, i == len(names)-1)
		switch {
		case reason != "":
			if why == "" {
				why = reason
			}
		case a.rows[id] != nil:
			return id, ""
		case free == "":
			free = id
		}
	}
	return free, why
}

// names are those of an entry with what goes before them, and that of the kind.
func (a *assigner) names(e *Entry) (list []string) {
	names := e.Names
	if len(names) == 0 {
		names = []string{a.Kind}
	}
	last := names[len(names)-1]
	if !strings.HasPrefix(last, a.Kind+"-") {
		names = append(slices.Clone(names), a.Kind+"-"+last)
	}
	for _, name := range names {
		if a.Prefix != "" {
			name = a.Prefix + "-" + name
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// of makes an id of a name, with a number if entries of the same origin have it (of
// the last name, any entries), and says what is in the way.
func (a *assigner) of(name string, e *Entry, last bool) (id, reason string) {
	of := numbered{name, e.Origin, last}
	n := max(a.numbers[of], 1) // what was taken stays taken: go on where the last search ended
	for {
		if id = name; n > 1 {
			id = fmt.Sprintf("%s-%d", name, n)
		}
		if other := a.used[id]; other == nil || !last && other.Origin != e.Origin {
			break
		}
		n++
	}
	a.numbers[of] = n
	if a.used[id] != nil {
		return id, fmt.Sprintf("%q is the id of another task of this import", id)
	}
	if row := a.rows[id]; row != nil && !e.isFrom(a.Kind, row) {
		return id, fmt.Sprintf("task %q exists and %s", id, Whence(row, a.Kinds))
	}
	if !a.OwnHandlers() {
		return id, ""
	}
	for _, row := range a.handlers[id] {
		if !(row.Submitter == a.Kind && e.Origin.Surely(row)) && !e.isFrom(a.Kind, row) {
			return id, fmt.Sprintf("the handler %q also runs the jobs of task %q, which %s", id, row.ID, Whence(row, a.Kinds))
		}
	}
	return id, ""
}

// Foreign returns the ids of tasks that are rows of another origin: nothing may be
// written then.
func Foreign(items []Item, rows []periodic.Task, kind string) []string {
	entries := map[string]*Entry{}
	for i := range items {
		if e := items[i].Entry; e != nil {
			entries[e.Task.ID] = e
		}
	}
	found := map[string]bool{}
	for i := range rows {
		if e := entries[rows[i].ID]; e != nil && !e.isFrom(kind, &rows[i]) {
			found[rows[i].ID] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// maxName leaves room in an id for a prefix and a number.
const maxName = 150

// Name makes a part of an id out of any text: other characters than letters, digits,
// '.', '_' and '-' become one '-'. It is empty if nothing is left.
func Name(text string) string {
	name := strings.Trim(odd.ReplaceAllString(text, "-"), "-.")
	return strings.TrimRight(name[:min(len(name), maxName)], "-.")
}
