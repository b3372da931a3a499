package hostile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	atOnce  = 10               // hostile rows at a time
	patient = 25 * time.Second // for what takes a second
	rounds  = 1                // of the short form
)

// Beside hostile rows, healthy tasks, jobs and topics go on. Each hostile row is named in
// the log once, and works again when its value was put right. How late healthy work may be
// is judged by make test-pace.
func TestPace(t *testing.T) {
	onEach(t, func(e environment) {
		p := &pace{environment: e, silent: map[string]int{}}
		p.run()
	})
}

// pace is a run on a database.
type pace struct {
	environment
	services []*service
	refused  int
	taken    int
	still    int            // rows that did not work as long as they were hostile
	silent   map[string]int // lines of the log that name no row
}

func (p *pace) run() {
	p.Helper()
	p.must(p.healthyTasks())
	p.services = []*service{p.start("serve-1", "serve"), p.start("serve-2", "serve")}
	if stalled := p.stalled(); stalled != "" {
		p.Fatalf("before there was a hostile row, %s", stalled)
	}
	cells := p.cells(rand.New(rand.NewPCG(*flagSeed, 0)))
	done := 0
	for begun := time.Now(); len(cells) > 0 && (done < rounds || time.Since(begun) < *flagDuration); done++ {
		n := min(atOnce, len(cells))
		p.round(cells[:n])
		cells = cells[n:]
	}
	p.Logf("%d rounds, %d values were taken, %d refused; %d stood still and said why", done, p.taken, p.refused, p.still)
	for _, s := range p.services {
		if !s.stop() {
			p.Errorf("%s did not end well:\n%s", s.name, lastLines(s.Said()))
		}
	}
	for _, line := range slices.Sorted(maps.Keys(p.silent)) {
		p.Logf("%d lines name no row: %s", p.silent[line], line)
	}
	p.nothingLost()
}

// healthyTasks inserts tasks of all sinks. Of a thousand, a tenth is due each second.
func (p *pace) healthyTasks() string {
	var b strings.Builder
	b.WriteString("BEGIN;\n")
	for i := range *flagHealthy {
		timer, sink := "*:*:*", []string{"job", "job", "event", "job", "mail", "job", "event", "job", "river", "job"}[i/10%10]
		if long() {
			timer = fmt.Sprintf("*:*:%d/10", i%10)
		} else {
			sink = []string{"job", "event", "mail", "river"}[i%4]
		}
		fmt.Fprintf(&b, `INSERT INTO periodic_task (id, task, group_, timer, overlap, catchup, sink, args) VALUES ('healthy-%d', 'call', 'topic-%d', '%s', 'allow', 'all', '%s', '"healthy-"');`+"\n",
			i, i, timer, sink)
	}
	return b.String() + "COMMIT;\n"
}

// stalled waits until each healthy task, its jobs and its topics have gone on from now. If
// they do not, it says so.
func (p *pace) stalled() string {
	p.Helper()
	begun := now()
	for what, done := range map[string]string{
		"tasks":  `NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.task_id = p.id AND k.decision = 'submitted' AND k.due > {now} AND k.due < '9000-01-01')`,
		"jobs":   `p.sink = 'job' AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.tracker = p.id AND j.state = 'success' AND j.finished > {now})`,
		"topics": `p.sink = 'event' AND NOT EXISTS (SELECT 1 FROM outbox_message AS m WHERE m.topic = p.group_ AND m.published > {now})`,
	} {
		query := "SELECT count(*) FROM periodic_task AS p WHERE p.id LIKE 'healthy-%' AND " + strings.ReplaceAll(done, "{now}", "'"+begun+"'") + ";"
		if !within(patient, func() bool { return p.must(query) == "0" }) {
			return fmt.Sprintf("of %s healthy tasks the %s stand still", p.must(query), what)
		}
	}
	return ""
}

// now is the time as the databases write it.
func now() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000000") }

// within reports whether something comes true in time.
func within(d time.Duration, holds func() bool) bool {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for late := time.Now().Add(d); !holds(); <-again.C {
		if time.Now().After(late) {
			return false
		}
	}
	return true
}

// round makes rows hostile, looks that the healthy ones go on, and puts the values right.
func (p *pace) round(cells []*cell) {
	p.Helper()
	from := make([]int, len(p.services))
	for i, s := range p.services {
		from[i] = len(s.Said())
	}
	var taken []*cell
	harmed := now()
	for _, c := range cells {
		if p.harmOne(c) {
			taken = append(taken, c)
		}
	}
	if stalled := p.stalled(); stalled != "" {
		p.Errorf("%s beside these rows:\n%s", stalled, p.script(taken))
	}
	p.explained(taken, harmed, from)
	cured := now()
	for _, c := range taken {
		if err := p.cure(c); err != nil {
			p.Errorf("%s cannot be put right: %v\n%s", c, err, p.script([]*cell{c}))
		}
	}
	for _, c := range taken {
		p.worksAgain(c, cured)
	}
	for i, s := range p.services {
		if s.Ended() {
			p.Fatalf("%s has ended beside these rows:\n%s\n%s", s.name, p.script(taken), lastLines(s.Said()))
		}
		p.named(s.log(from[i]), taken)
	}
	p.must("DELETE FROM periodic_task WHERE id LIKE 'hostile-%';\nDELETE FROM outbox_message WHERE topic LIKE 'hostile-%';\n")
}

// harmOne makes a row and its value, and reports whether the database took it.
func (p *pace) harmOne(c *cell) bool {
	p.Helper()
	makes := p.makes(c)
	if !c.fresh || c.waits != "" {
		p.must("BEGIN;\n" + makes + "COMMIT;\n")
		makes = ""
		if c.waits != "" && !within(patient, func() bool { return p.must(p.fill(c.waits, c.id)+";") != "0" }) {
			p.Fatalf("no row of %s was made for %s", c.table, c.id)
		}
	}
	switch err := p.apply(c, makes); {
	case errors.Is(err, errNoRow): // it has gone, or there are two, since it works
		return false
	case err != nil:
		p.refused++
		return false
	}
	p.taken++
	return true
}

// worksAgain waits until a row that was cured works.
func (p *pace) worksAgain(c *cell, cured string) {
	p.Helper()
	if c.works == "" {
		return
	}
	query := strings.ReplaceAll(p.fill(c.works, c.id), "{cured}", "'"+cured+"'") + ";"
	if !within(patient, func() bool { return p.must(query) != "0" }) {
		out, _ := p.nextrun("why", c.id)
		p.Errorf("%s does not work again\n%s-- cure: %s = %s\n%s", c, p.script([]*cell{c}), c.name(), c.was, out)
	}
}

// named checks what the log says of the rows.
func (p *pace) named(lines []string, cells []*cell) {
	p.Helper()
	times := map[string]int{}
	for _, line := range lines {
		var l struct{ Level, Msg string }
		if json.Unmarshal([]byte(line), &l) != nil {
			p.Errorf("a line of the log: %.2000s", line)
			continue
		}
		if l.Level != "warning" && l.Level != "error" {
			continue
		}
		for _, c := range cells {
			if strings.Contains(line, c.id) {
				times[c.id+" "+l.Msg]++
				if times[c.id+" "+l.Msg] == 3 { // each process may say so, and what it means after the cure
					p.Errorf("%s is named again and again: %.600s\n%s", c, line, p.script([]*cell{c}))
				}
			}
		}
		if !strings.Contains(line, "hostile-") {
			p.silent[fmt.Sprintf("%s: %.300s", l.Msg, line)]++
		}
	}
}

// nothingLost checks the ticks of the healthy tasks.
func (p *pace) nothingLost() {
	p.Helper()
	for _, row := range p.rows(`SELECT task_id, due, decision, reason FROM periodic_tick WHERE task_id LIKE 'healthy-%' AND decision <> 'submitted' LIMIT 5`) {
		p.Errorf("a tick of a healthy task was not submitted: %v", row)
	}
	out, _ := p.nextrun("check", "--guarantees", "--json") // of the hostile rows it may find something
	var report struct {
		Tasks    int
		Undone   []string
		Findings []struct {
			Text string
			Rows []struct{ About, Detail string }
		}
	}
	if err := json.Unmarshal([]byte(out[:strings.LastIndex(out, "}")+1]), &report); err != nil || report.Tasks < *flagHealthy || len(report.Undone) > 0 {
		p.Errorf("guarantees: %v, %d tasks, not done: %v\n%.2000s", err, report.Tasks, report.Undone, out)
	}
	for _, f := range report.Findings {
		for _, r := range f.Rows {
			if strings.HasPrefix(r.About, "healthy-") {
				p.Errorf("guarantees: %s: %s: %s", f.Text, r.About, r.Detail)
			}
		}
	}
}
