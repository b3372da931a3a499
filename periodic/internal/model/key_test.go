package model

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
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
	var b strings.Builder
	fmt.Fprint(&b, w.now, w.high, w.lock, w.left, w.broken, "|")
	writeTables(&b, w.tables)
	writeTransaction(&b, w.worker)
	own := make([]string, len(w.instances))
	order := make([]int, len(w.instances))
	for i := range w.instances {
		own[i] = strings.ReplaceAll(w.instances[i].text(), w.instances[i].id()+".", "own.")
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(own[x], own[y]) })
	text := b.String()
	for n, i := range order {
		p := &w.instances[i]
		text += own[i]
		if p.up {
			text = strings.ReplaceAll(text, p.id(), "process "+strconv.Itoa(n))
		}
	}
	return ended.ReplaceAllString(text, "ended@")
}

// ended are the ids of processes that have ended.
var ended = regexp.MustCompile(`[A-Z]@[0-9]+`)

func (i *instance) text() string {
	var b strings.Builder
	fmt.Fprint(&b, i.led, i.marking, i.up, i.begun, i.marks, i.token, i.careful, i.left, "|")
	if i.held != nil {
		fmt.Fprint(&b, i.held.ahead, clock(i.held.batch.Now))
		writePlans(&b, i.held.batch.Plans)
		writeClaimed(&b, i.held.edits)
	}
	writeTransaction(&b, i.tx)
	return b.String()
}

func writeTables(b *strings.Builder, t tables) {
	for _, r := range t.tasks {
		writeTask(b, &r.Task)
		fmt.Fprint(b, r.edits, r.taken, clock(r.since), ";")
	}
	lines := make([]string, 0, 16)
	for _, k := range t.ticks {
		lines = append(lines, fmt.Sprint(k.TaskID, clock(k.Due), k.Decision, clock(k.Until), k.JID, k.copies))
	}
	for _, j := range t.jobs {
		lines = append(lines, fmt.Sprint(j.id, j.single, j.other, j.state, j.asked))
	}
	for _, o := range t.open {
		lines = append(lines, fmt.Sprint(o.task, o.jid, o.gone))
	}
	sort.Strings(lines)
	fmt.Fprint(b, lines, t.ready, "|")
}

func writeTask(b *strings.Builder, t *task.Task) {
	fmt.Fprint(b, t.ID, t.Enabled, t.Worker, clock(t.Marked), t.Timer, clock(t.NextRun), clock(t.Due), t.Overlap, t.Sink,
		clock(t.Pause.Since), len(t.Summary))
}

func writePlans(b *strings.Builder, plans []task.Plan) {
	for _, p := range plans {
		writeTask(b, p.Task)
		fmt.Fprint(b, clock(p.Due), clock(p.NextRun), p.Cancel)
		for _, k := range slices.Concat(p.Settled, p.Ticks) {
			fmt.Fprint(b, clock(k.Due), k.Decision, clock(k.Until))
		}
	}
}

func writeClaimed(b *strings.Builder, claimed map[string]row) {
	for _, id := range sorted(claimed) {
		fmt.Fprint(b, id, claimed[id].edits, claimed[id].taken)
	}
}

func writeTransaction(b *strings.Builder, t *txn) {
	if t == nil {
		b.WriteString("-|")
		return
	}
	fmt.Fprint(b, t.kind, clocks(t.begun), t.fence, t.shares, t.held, t.forgot, t.done)
	writeClaimed(b, t.edits)
	writeTables(b, t.own)
	for _, a := range t.calls {
		b.WriteString(a.call)
		writeAnswer(b, a.value)
	}
}

func writeAnswer(b *strings.Builder, value any) {
	switch v := value.(type) {
	case []task.Task:
		for i := range v {
			writeTask(b, &v[i])
		}
	case map[string]task.Pending:
		for _, id := range sorted(v) {
			fmt.Fprint(b, id, v[id].JID, v[id].State)
		}
	case backend.Recorded:
		for _, id := range sorted(v.Queued) {
			fmt.Fprint(b, id, clocks(v.Queued[id]))
		}
		for _, id := range sorted(v.Decided) {
			for _, r := range v.Decided[id] {
				fmt.Fprint(b, id, clock(r.First), clock(r.Last))
			}
		}
	default:
		fmt.Fprint(b, v)
	}
}

func clocks(times []time.Time) (list []string) {
	for _, t := range times {
		list = append(list, clock(t))
	}
	return list
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
