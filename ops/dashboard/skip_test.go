package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// A button skips the next run, and another one undoes that.
func TestSkipTheNextRun(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, starts) VALUES ('report', 'work', '*-*-* 02:00', '2090-01-01 00:00:00')`)
		if page := s.get("/task?id=report"); !strings.Contains(page, "Skip the next run</button>") || strings.Contains(page, "Undo</button>") {
			s.Error("the page has no button to skip, or one to undo what nobody has done")
		}
		form := url.Values{"action": {"skip"}, "id": {"report"}, "reason": {"the <b>server</b> moves"}, "back": {"task?id=report"}}
		if code, header, body := s.ask(s.request(http.MethodPost, "/tasks", form)); code != 303 || !strings.HasPrefix(header.Get("Location"), "/task?done=Skipped+a+run+to+come%3A+report.") {
			s.Errorf("%d to %q: %s", code, header.Get("Location"), body)
		}
		s.Want("2090-01-01 02:00:00 ada: the <b>server</b> moves", `SELECT substr(CAST(due AS varchar(30)), 1, 19) || ' ' || reason FROM periodic_tick WHERE decided IS NULL`)
		page := s.get("/task?id=report")
		for _, want := range []string{"left out by hand: ada: the &lt;b&gt;server&lt;/b&gt; moves", `name="tick" value="2090-01-01T02:00:00Z"`, "Undo</button>", "will be left out: "} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
		var data struct {
			Skips []struct{ Reason string }
		}
		if s.data("/task?id=report&format=json", &data); len(data.Skips) != 1 || !strings.HasPrefix(data.Skips[0].Reason, "ada: ") {
			s.Errorf("%+v", data)
		}
		for tick, code := range map[string]int{"soon": 400, "2090-01-02T02:00:00Z": 400, "2090-01-01T02:00:00Z": 303} {
			if got, _, body := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"action": {"unskip"}, "id": {"report"}, "tick": {tick}})); got != code {
				s.Errorf("unskip %s: %d %s", tick, got, body)
			}
		}
		s.Want(0, `SELECT count(*) FROM periodic_tick`)
	})
}

func TestWhoMayNotActSeesWhatWasSkipped(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, starts) VALUES ('report', 'work', '*-*-* 02:00', '2090-01-01 00:00:00')`)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision) VALUES ('report', '2090-01-01 02:00:00', 'skipped')`)
		if page := s.get("/task?id=report"); !strings.Contains(page, "left out by hand") || strings.Contains(page, "Undo</button>") || strings.Contains(page, "Skip the next run</button>") {
			s.Error("a page without actions has other buttons than none")
		}
		if code, _, _ := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"action": {"unskip"}, "id": {"report"}})); code == 303 {
			s.Error("somebody who may not act has undone a skip")
		}
		s.Want(1, `SELECT count(*) FROM periodic_tick`)
	})
}
