package model

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Key implements explore.State. Processes that work alike may change places.
func (w *world) Key() (key [16]byte) {
	h := fnv.New128a()
	texts := w.texts()
	_, _ = h.Write([]byte(texts)) // a Hash never fails
	h.Sum(key[:0])
	return key
}

// texts writes what matters of a state. Processes are named by the order of what they hold,
// those that have ended alike.
func (w *world) texts() string {
	b := text{w: w}
	fmt.Fprint(&b, w.now, w.high, w.lock, w.started, w.left, w.broken, "|")
	writeTables(&b, w.tables)
	if w.standby != nil {
		fmt.Fprint(&b, "standby", w.standby.lock)
		writeTables(&b, w.standby.tables)
	}
	writeTransaction(&b, w.worker)
	own := make([]string, len(w.instances))
	order := make([]int, len(w.instances))
	for i := range w.instances {
		own[i] = w.instances[i].text(w)
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(own[x], own[y]) })
	all := b.String()
	for n, i := range order {
		p := &w.instances[i]
		all += own[i]
		if p.up {
			all = strings.ReplaceAll(all, p.id(), "process "+strconv.Itoa(n))
		}
	}
	return ended.ReplaceAllString(all, "ended@")
}

// ended are the ids of processes that have ended.
var ended = regexp.MustCompile(`[A-Z]@[0-9]+`)

// text is a text about a state. The number of a version matters only where it may come again, else
// only whether the row is still as it was read.
type text struct {
	strings.Builder
	w *world
}

func (b *text) number(r row) int {
	if b.w.scene.left.lose == 0 {
		return 0
	}
	return r.version
}

func (b *text) version(read row) string {
	if b.w.scene.left.lose > 0 {
		return strconv.Itoa(read.version)
	}
	same := func(r row) bool { return r.ID == read.ID && r.version == read.version }
	return strconv.FormatBool(slices.ContainsFunc(b.w.tables.tasks, same))
}

func (i *instance) text(w *world) string {
	b := text{w: w}
	fmt.Fprint(&b, i.led, i.up, i.begun, i.token, "|")
	if i.held != nil {
		fmt.Fprint(&b, "holds", clock(i.held.batch.Now))
		writePlans(&b, i.held.batch.Plans)
		writeRead(&b, i.held.edits)
	}
	writeTransaction(&b, i.tx)
	return b.String()
}

func writeTables(b *text, t tables) {
	for _, r := range t.tasks {
		writeTask(b, &r.Task)
		fmt.Fprint(b, r.edits, b.number(r), clock(r.since), ";")
	}
	lines := make([]string, 0, 16)
	for _, k := range t.ticks {
		lines = append(lines, fmt.Sprint(k.TaskID, clock(k.Due), k.Decision, clock(k.Until), k.JID, k.Decided.IsZero(), k.copies))
	}
	for _, j := range t.jobs {
		lines = append(lines, fmt.Sprint(j.id, j.single, j.other, j.state, j.asked, clock(j.ended)))
	}
	for _, o := range t.open {
		lines = append(lines, fmt.Sprint(o.task, o.jid))
	}
	sort.Strings(lines)
	fmt.Fprint(b, lines, "|")
}

func writeTask(b *text, t *periodic.Task) {
	fmt.Fprint(b, t.ID, t.Enabled, t.Worker, clock(t.Marked), t.Timer, clock(t.NextRun), clock(t.Due), t.Overlap, t.Sink,
		clock(t.Pause.Since))
}

func writePlans(b *text, plans []periodic.Plan) {
	for _, p := range plans {
		writeTask(b, p.Task)
		if b.w.scene.left.lose > 0 {
			b.WriteString(p.Task.Version)
		}
		fmt.Fprint(b, clock(p.Due), clock(p.NextRun), p.Cancel, p.Held)
		for _, k := range slices.Concat(p.Settled, p.Ticks) {
			fmt.Fprint(b, clock(k.Due), k.Decision, clock(k.Until))
		}
	}
}

func writeRead(b *text, read map[string]row) {
	for _, id := range sorted(read) {
		fmt.Fprint(b, id, read[id].edits, b.version(read[id]))
	}
}

func writeTransaction(b *text, t *txn) {
	if t == nil {
		b.WriteString("-|")
		return
	}
	fmt.Fprint(b, t.kind, clock(t.now), t.fence, t.shares, t.done)
	writeRead(b, t.edits)
	writeTables(b, t.own)
	for _, a := range t.calls {
		b.WriteString(a.call)
		writeAnswer(b, a.value)
	}
}

func writeAnswer(b *text, value any) {
	switch v := value.(type) {
	case []periodic.Task:
		for i := range v {
			writeTask(b, &v[i])
		}
	case map[string]sink.Pending:
		for _, id := range sorted(v) {
			fmt.Fprint(b, id, v[id].JID, v[id].State)
		}
	case map[string]time.Time:
		for _, id := range sorted(v) {
			fmt.Fprint(b, id, clock(v[id]))
		}
	case map[string][]periodic.Range:
		for _, id := range sorted(v) {
			for _, r := range v[id] {
				fmt.Fprint(b, id, clock(r.First), clock(r.Last))
			}
		}
	default:
		fmt.Fprint(b, v)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
