package store_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers/statement"
	"github.com/nextrun/nextrun/store"
)

// runs runs a job with a statement, and returns it at its end.
func (e tasksEnv) runs(t *testing.T, s statement.Work, args string) jobqueue.Job {
	t.Helper()
	handler, err := s.Handler(e.db)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	work, err := executor.New(e.db.Jobs(), executor.Config{Name: "e", Logger: logger, RetryLimit: executor.Never})
	if err != nil {
		t.Fatal(err)
	}
	work.Register("s", handler)
	queue := jobqueue.NewQueue(e.db.Jobs())
	jids, err := queue.Submit(t.Context(), jobqueue.Job{Task: "s", Args: args})
	if err == nil {
		err = work.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer work.Stop(t.Context()) //nolint:errcheck // the state of the job tells
	var job jobqueue.Job
	storetest.Eventually(t, "the end of the job", func() bool {
		job, err = queue.Get(t.Context(), jids[0])
		return err == nil && job.State.Final()
	})
	return job
}

// loggedIn is the database for a login that has no rights of its own, but is the owner by its settings.
func (e tasksEnv) loggedIn(t *testing.T, login string, roles ...string) tasksEnv {
	t.Helper()
	owner := e.One("SELECT current_user")
	e.Exec("CREATE ROLE " + login + " LOGIN NOINHERIT PASSWORD 'p'; ALTER ROLE " + login + " SET role = " + owner)
	for _, role := range append(roles, owner) {
		e.Exec("GRANT " + role + " TO " + login)
	}
	address, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(login, "p")
	if e.db, err = store.Open(t.Context(), address.String(), store.Options{}); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestStatementEndsItsJob(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec("CREATE TABLE effect (a varchar(20), n integer, flag boolean, list text, jid text)")
		job := env.runs(t, statement.Work{SQL: []string{"INSERT INTO effect (a, n, flag, list, jid) VALUES (:a, :n, :flag, :list, :nextrun_job_id)",
			"UPDATE effect SET n = n + :n WHERE a = 'it''s; :none'"}}, `{"a": "it's; :none", "n": 4, "flag": true, "list": [1, "x"], "unused": null}`)
		if job.State != jobqueue.Success || job.Result != "rows: 2" {
			t.Errorf("the job ended as %s: %s", job.State, job.Result)
		}
		if got := env.texts(t, "SELECT a || n || list || jid FROM effect WHERE flag"); len(got) != 1 || got[0] != `it's; :none8[1,"x"]`+job.JID {
			t.Errorf("the row has %q", got)
		}
	})
}

// What fails leaves nothing behind, and the result says why.
func TestStatementThatFails(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec("CREATE TABLE effect (a varchar(20) NOT NULL)")
		for name, c := range map[string]struct{ sql, args, want string }{
			"the second one": {"INSERT INTO effect VALUES ('x'); INSERT INTO effect VALUES (NULL)", "{}", "statement 2: "},
			"no argument":    {"INSERT INTO effect VALUES (:a)", "{}", `the args of the job have no "a"`},
			"no object":      {"INSERT INTO effect VALUES (:a)", "[]", "no JSON object"},
			"no such table":  {"INSERT INTO effects VALUES (1)", "{}", "effects"},
			"no such column": {"DELETE FROM effect WHERE b = 1", "{}", "b"},
			"a later row":    {"SELECT abs(n) FROM (SELECT 1 AS n UNION ALL SELECT CAST('-9223372036854775808' AS bigint)) AS v", "{}", "o"},
		} {
			job := env.runs(t, statement.Work{SQL: strings.Split(c.sql, "; ")}, c.args)
			if job.State != jobqueue.Failed || !strings.Contains(job.Result, c.want) || strings.Contains(job.Result, "nextrun migrate") {
				t.Errorf("%s: %s: %s", name, job.State, job.Result)
			}
		}
		if got := env.texts(t, "SELECT a FROM effect"); len(got) != 0 {
			t.Errorf("left behind: %q", got)
		}
	})
}

// On PostgreSQL a role runs the statement, and nextrun's role ends the job. A procedure that
// commits fails.
func TestStatementOfARole(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		if env.Kind == storetest.SQLite {
			if _, err := (statement.Work{SQL: []string{"SELECT 1"}, Role: "r"}).Handler(env.db); err == nil {
				t.Error("SQLite takes a role")
			}
			return
		}
		role := "reporting" + env.One("SELECT oid FROM pg_database WHERE datname = current_database()")
		env.Exec("CREATE ROLE " + role)
		defer env.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role)
		env.Exec("CREATE SCHEMA other; CREATE TABLE other.thing (a text); CREATE TABLE effect (who text)")
		env.Exec("GRANT USAGE ON SCHEMA other TO " + role + "; GRANT INSERT ON effect TO " + role)
		env.Exec("CREATE PROCEDURE commits() LANGUAGE plpgsql AS 'BEGIN INSERT INTO effect VALUES (1); COMMIT; END'")
		for sql, want := range map[string]string{ // it is checked with the role that will run it
			"INSERT INTO effect VALUES (:who)":                      "",
			"SELECT who FROM effect FOR UPDATE":                     "permission denied for table effect",
			"SET LOCAL search_path = other; DELETE FROM thing":      "permission denied",
			"TRUNCATE effect; INSERT INTO effect VALUES (:a, :who)": "statement 2: ",
		} {
			err := statement.Work{SQL: strings.Split(sql, "; "), Role: role}.Check(t.Context(), env.db)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", sql, err)
			}
		}
		if err := (statement.Work{SQL: []string{"SELECT 1"}, Role: "no such role"}).Check(t.Context(), env.db); err == nil || !strings.Contains(err.Error(), "no such role") {
			t.Errorf("an unknown role: %v", err)
		}
		job := env.runs(t, statement.Work{SQL: []string{"INSERT INTO effect VALUES (current_user)"}, Role: role}, "{}")
		if got := env.texts(t, "SELECT who FROM effect"); job.State != jobqueue.Success || len(got) != 1 || got[0] != role {
			t.Errorf("%s: %s; it ran as %q", job.State, job.Result, got)
		}
		if job := env.runs(t, statement.Work{SQL: []string{"DELETE FROM job"}, Role: role}, "{}"); job.State != jobqueue.Failed || !strings.Contains(job.Result, "permission denied") {
			t.Errorf("%s: %s", job.State, job.Result)
		}
		if job := env.runs(t, statement.Work{SQL: []string{"CALL commits()"}}, "{}"); job.State != jobqueue.Failed || len(env.texts(t, "SELECT who FROM effect")) != 1 {
			t.Errorf("a procedure that commits: %s: %s", job.State, job.Result)
		}
		for _, sql := range []string{"SET LOCAL search_path = other; INSERT INTO thing VALUES ('x')", "SELECT set_config('search_path', 'other', true)"} {
			if job := env.runs(t, statement.Work{SQL: strings.Split(sql, "; ")}, "{}"); job.State != jobqueue.Success {
				t.Errorf("%s: %s: %s", sql, job.State, job.Result)
			}
		}
		worker := env.loggedIn(t, role+"_login", role)
		defer env.Exec("DROP ROLE " + role + "_login")
		defer closed(t, worker.db)
		if job := worker.runs(t, statement.Work{SQL: []string{"INSERT INTO effect VALUES (current_user)"}, Role: role}, "{}"); job.State != jobqueue.Success {
			t.Errorf("a login that is another role by its settings: %s: %s", job.State, job.Result)
		}
	})
}

// A check finds what the database has against a statement, and runs nothing.
func TestStatementIsChecked(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec("CREATE TABLE effect (a varchar(20), n integer)")
		env.Exec("INSERT INTO effect VALUES ('x', 1)")
		for sql, want := range map[string]string{
			"INSERT INTO effect VALUES (:a, :n); DELETE FROM effect WHERE n > :n; UPDATE effect SET a = :nextrun_job_id": "",
			"WITH one AS (SELECT 1 AS n) INSERT INTO effect SELECT 'y', n FROM one":                                      "",
			"CREATE TABLE other (a integer); INSERT INTO other VALUES (:n)":                                              "",
			"DROP TABLE effect":                             "",
			"SELECT 1; DELETE FROM efect WHERE a = :a":      "statement 2: ",
			"DELETE FROM effect WHERE b = :a":               "b",
			"DELETE FORM effect":                            "FORM",
			"SELECT no_such_function(:n)":                   "no_such_function",
			"INSERT INTO effect (a, n) VALUES (:a, :n, :n)": "columns",
		} {
			err := statement.Work{SQL: strings.Split(sql, "; ")}.Check(t.Context(), env.db)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", sql, err)
			}
		}
		if got := env.texts(t, "SELECT a || n FROM effect"); len(got) != 1 || got[0] != "x1" {
			t.Errorf("the check changed the rows to %q", got)
		}
	})
}
