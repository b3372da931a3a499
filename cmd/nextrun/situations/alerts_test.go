package situations_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// rules are the alerts for Prometheus.
const rules = "../../../dist/prometheus/nextrun.rules.yml"

// alarms collects the metrics of situations, and what promtool is to find in them.
type alarms struct {
	mu    sync.Mutex
	tests strings.Builder
}

// expect notes the metrics that a database shows now, and the alerts that fire if they stay
// as they are.
func (a *alarms) expect(t *testing.T, db *store.DB, firing []string) {
	t.Helper()
	m := metrics.New(metrics.Options{})
	m.Watch(db)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(&a.tests, "  - name: %q\n    interval: 1m\n    input_series:\n", t.Name())
	for line := range strings.Lines(answer.Body.String()) {
		at := strings.LastIndex(line, " ")
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64)
		if err == nil && strings.HasPrefix(line, "nextrun_") {
			fmt.Fprintf(&a.tests, "      - {series: %q, values: '%sx15'}\n", line[:at], strconv.FormatFloat(value, 'f', -1, 64))
		}
	}
	// The name of the test, which no alert has, is there to be found in what promtool says.
	fmt.Fprintf(&a.tests, "    promql_expr_test:\n      - {expr: 'group by (alertname) (ALERTS{alertstate=\"firing\", alertname!=%q})', eval_time: 10m, exp_samples: [", strings.ReplaceAll(t.Name(), "'", ""))
	for _, name := range firing {
		fmt.Fprintf(&a.tests, "{labels: '{alertname=%q}', value: 1}, ", name)
	}
	a.tests.WriteString("]}\n")
}

// compare has promtool compare, once for all.
func (a *alarms) compare(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is missing, so the alerts were not compared: make doctor says how to install it")
		return
	}
	at, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "situations.yml")
	text := "rule_files: [" + at + "]\nevaluation_interval: 1m\ntests:\n" + a.tests.String()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// onThePage is what the dashboard's page of the task says.
func onThePage(t *testing.T, db *store.DB, queues periodic.Submitters) status {
	handler, err := dashboard.Handler(db, dashboard.Options{Queues: queues})
	if err != nil {
		t.Fatal(err)
	}
	var answer *httptest.ResponseRecorder
	storetest.Eventually(t, "the page is answered in time", func() bool {
		answer = httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/task?id=t&format=json", nil)
		request.Host = "localhost"
		handler.ServeHTTP(answer, request)
		return answer.Code == http.StatusOK
	})
	var page struct{ Task, Why status }
	clitest.Decode(t, answer.Body.String(), &page)
	page.Task.Findings = page.Why.Findings
	return page.Task
}
