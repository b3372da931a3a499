package hostile_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

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
