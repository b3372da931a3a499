package situations_test

// Why a job waits.
var ofJobs = []situation{
	{
		name:   "its executor was killed, and another one has taken it back",
		set:    func(w *world) { w.tick(); w.sql("UPDATE job SET started = {-50s}") },
		codes:  []string{"job_no_executor", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its job, which an executor had before, waits again: "},
		not:    []string{"has been waiting for"},
	},
	{
		name: "no executor runs", set: func(w *world) { w.tick() },
		codes:  []string{"job_no_executor", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"Its job has been waiting for 1 min", "no executor runs, as far as the database shows.", "> start one: nextrun executor --config FILE"},
		not:    []string{"handlers.backup"},
		job:    "It has been waiting for 1 min",
	},
	{
		name: "executors run, and none has the handler",
		set: func(w *world) {
			w.executor("one", 2, nil, handler{name: "mail"}, handler{name: "report"})
			w.tick()
		},
		codes:  []string{"job_no_handler", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`no executor that runs has a handler "backup"; one@`, "has mail, report.", "> define handlers.backup"},
		job:    "define handlers.backup",
	},
	{
		name: "executors run, none has the handler, and the first run is to come",
		set: func(w *world) {
			w.executor("one", 2, nil, handler{name: "mail"}, handler{name: "backups"})
			w.scheduled()
		},
		codes: []string{"job_no_handler"},
		says:  []string{`No executor that runs has a handler "backup"; did you mean "backups"?`, "> nextrun task set t --handler backups"},
	},
	{
		name: "the executor with the handler takes other groups only",
		set: func(w *world) {
			w.executor("one", 2, []string{"night"}, handler{name: "backup"})
			w.tick()
		},
		codes:  []string{"job_no_handler", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`no executor that runs and has a handler "backup" takes jobs of the group "default"`, "> add \"default\" to `groups` of one@"},
		not:    []string{"define handlers"},
		job:    `takes jobs of the group "default"`,
	},
	{
		name: "the only place is taken by a job of another handler",
		set: func(w *world) {
			w.executor("one", 1, nil, handler{name: "backup"}, handler{name: "mail"})
			w.sh.Submit(w.T, "mail")
			w.runs("mail", 1)
			w.tick()
		},
		codes:  []string{"job_no_place", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"the only place of one@", "is taken: by job ", "(handler mail) for "},
		not:    []string{"handlers.backup", "no executor"},
		job:    "is taken: by job",
	},
	{
		name: "all places of two executors are taken",
		set: func(w *world) {
			w.executor("one", 1, nil, handler{name: "backup"}, handler{name: "mail"})
			w.executor("two", 2, nil, handler{name: "backup"}, handler{name: "mail"})
			w.executor("three", 5, nil, handler{name: "report"})
			for range 3 {
				w.sh.Submit(w.T, "mail")
			}
			w.runs("mail", 3)
			w.tick()
		},
		codes:  []string{"job_no_place", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"all 3 places of one@", "two@", "are taken: by job "},
		not:    []string{"handlers.backup", "three@"},
		job:    "all 3 places of",
	},
	{
		name: "a limit of the handler",
		set: func(w *world) {
			w.executor("one", 5, nil, handler{name: "backup"})
			w.sh.Must(w.T, "job", "limit", "handler", "backup", "2")
			w.sh.Submit(w.T, "backup")
			w.sh.Submit(w.T, "backup")
			w.runs("backup", 2)
			w.tick()
		},
		codes:  []string{"job_limit", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`the handler "backup" may run 2 jobs at once, and 2 run: job `, "> to allow more: nextrun job limit handler backup NUMBER"},
		not:    []string{"define handlers", "no executor", "place"},
		job:    "may run 2 jobs at once",
	},
	{
		name: "a limit of the group",
		set: func(w *world) {
			w.executor("one", 5, nil, handler{name: "backup"}, handler{name: "mail"})
			w.sh.Must(w.T, "job", "limit", "group", "default", "1")
			w.sh.Submit(w.T, "mail")
			w.runs("mail", 1)
			w.tick()
		},
		codes:  []string{"job_limit", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`the group "default" may run 1 job at once, and 1 runs: job `, "(handler mail)"},
		not:    []string{"define handlers", "no executor", "place"},
		job:    `the group "default" may run 1 job at once`,
	},
	{
		name: "a limit, while no executor runs",
		set: func(w *world) {
			w.sh.Must(w.T, "job", "limit", "handler", "backup", "1")
			w.sql("INSERT INTO job (jid, task, state, worker, started) VALUES ('a', 'backup', 'running', 'old@000000000001', {-1m})")
			w.tick()
		},
		codes:  []string{"job_limit", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{"job a (handler backup) for 1 min"},
		job:    "may run 1 job at once",
	},
	{
		name: "a limit of the task",
		set: func(w *world) {
			w.executor("one", 5, nil, handler{name: "backup"})
			w.sql("UPDATE periodic_task SET overlap = 'allow'")
			w.sh.Must(w.T, "job", "limit", "task", "t", "1")
			w.tick()
			w.runs("backup", 1)
			w.tick()
		},
		codes:  []string{"job_limit", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`the task "t" may run 1 job at once, and 1 runs: job `, "nextrun job limit task t NUMBER"},
		not:    []string{"define handlers", "no executor", "place"},
		job:    `the task "t" may run 1 job at once`,
	},
	{
		name: "the handler is paused",
		set: func(w *world) {
			w.executor("one", 5, nil, handler{name: "backup"})
			w.sh.Must(w.T, "job", "limit", "handler", "backup", "0")
			w.tick()
		},
		codes:  []string{"job_limit", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`the handler "backup" is paused`, "> to end the pause: nextrun job limit handler backup none"},
		not:    []string{"define handlers", "no executor"},
		job:    `the handler "backup" is paused`,
	},
	{
		name: "the group is paused, and no executor runs",
		set: func(w *world) {
			w.sh.Must(w.T, "job", "limit", "group", "default", "0")
			w.tick()
		},
		codes:  []string{"job_limit", "task_stale"},
		alerts: []string{"NextrunTaskStale"},
		says:   []string{`the group "default" is paused`, "> to end the pause: nextrun job limit group default none"},
		job:    `the group "default" is paused`,
	},
}
