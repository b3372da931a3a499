package why

import "github.com/nextrun/nextrun/periodic"

// causes are all causes, what matters most first, as they are said: the row, its next tick, its job, its last runs, what is around it. A task may have
// several. The words of jobs that wait begin with the template lead.
var causes = []cause{
	{"task_disabled", "the task is disabled", disabled, `It is disabled.`, `nextrun task enable {{.ID}}`},
	{"task_problem", "the scheduler cannot use the row", problem,
		`{{if .Row}}Its row has a problem: {{end}}{{.Problem}}`,
		`{{if .Row}}to fix it: nextrun task set {{.ID}}{{if .Timer}} --timer TIMER{{end}}{{else}}if its row is to blame: nextrun task set {{.ID}}; a scheduler tries it again from time to time{{end}}`},
	{"task_warning", "the row is odd; the task still runs", warning, `Its row has a warning: {{.Text}}`, ``},
	{"queue_broken", "the queue of the task cannot be used, or the program that was asked does not know it", queueBroken,
		`{{if .Unknown}}Its jobs go to the queue "{{.Sink}}", which this program does not know.{{else if .Waits}}Its ticks wait for the queue "{{.Sink}}": {{.Waits}}{{else}}Its queue "{{.Sink}}" cannot be asked {{if .Busy}}now: the database is busy, such as when somebody has locked a table{{else}}with this login: {{.Error}}. The scheduler's may be another one{{end}}{{end}}`,
		`{{if .Unknown}}define it as a queue in the configuration file, and name that file with --config{{else if .Waits}}mend that; its ticks are submitted then. More about the queue: nextrun check --config FILE{{end}}`},
	{"task_paused", "the task is paused: what falls due is skipped", paused,
		`{{if .Early}}It is paused already, although its ` + "`paused`" + ` is {{at .Since}}, which is to come.{{else}}It has been paused{{with .By}} by {{.}}{{end}} since {{at .Since}}{{with .Until}} until {{at .}}{{end}}.{{with .Reason}} Reason: {{stop .}}{{end}}{{end}} What falls due meanwhile is skipped.`,
		`to end the pause: nextrun task resume {{.ID}}`},
	{"task_idle", "its time `starts` is to come, its time `ends` has passed, or its timer never elapses again", idle,
		`{{if .Ends}}It ended at {{at .Ends}}, its ` + "`ends`" + `.{{else if .Starts}}It starts at {{at .Starts}}, its ` + "`starts`" + `.{{else}}Its timer "{{.Timer}}" never elapses {{if .Later}}after its ` + "`starts`" + `{{else if .Until}}before {{at .Until}}, its ` + "`ends`" + `{{else}}from now on{{end}}.{{end}}`,
		`{{if .Ends}}to go on: nextrun task set {{.ID}} --ends none{{else if .Starts}}to start it now: nextrun task set {{.ID}} --starts none{{else}}nextrun task set {{.ID}} --timer TIMER{{if .Later}}, or --starts TIME{{else if .Until}}, or --ends TIME{{end}}{{end}}`},

	{"tick_waits", "the task is due, and its tick waits for the end of a job", tickWaits,
		`The tick of {{at .Due}} waits: the job{{with .Of}} of {{at .}}{{end}} {{if .Began}}has not ended {{since .Began}} after it was submitted{{else}}is still {{.State}}{{end}}{{with .Attempt}}, now in attempt {{.}}{{end}} (job {{.JID}})`, ``},
	{"task_locked", "the task is due, and a session has locked its row, that of its aggregate of events, a table, or the SQLite file", locked,
		`{{template "due" .}}, and {{if .File}}another connection has locked the database file: it writes, or has left a transaction open. Nobody else can write meanwhile{{else if .Row}}its row{{if eq .Table "event_aggregate"}} of event_aggregate{{end}} is locked by {{.Who}}. A scheduler can take it when that lock ends{{else}}the table {{.Table}} is locked by {{.Who}}. Tasks that write to that table wait until the lock ends{{end}}`,
		`{{.Remedy}}`},
	{"task_overdue", "the task is due or to be planned, and no scheduler has taken it", overdue,
		`{{if not .Late}}It is not planned yet, and no scheduler runs, as far as the database shows.{{else}}{{template "due" .}}{{if not .Unplanned}}, and no scheduler has taken it{{end}}.{{end}}` +
			`{{with .Marked}} The scheduler {{.}} marked it {{since $.Since}} ago and has not come back.{{end}}` +
			`{{with .Trouble}} The scheduler {{$.Who}} runs and reports: {{stop .}}{{else}}{{with .Who}} The cause is not known. A scheduler is connected, and may be stopped or stuck: {{.}}.{{end}}{{end}}`,
		`{{if .Trouble}}mend that; the scheduler goes on by itself then{{else if .Who}}does its process run? read its log{{else}}{{template "start" .}}start one: nextrun serve{{end}}`},
	{"next_by_hand", "its next run was set by hand to another time than the timer's", byHand,
		`Its next run was set by hand to {{at .Next}}{{with .Elapse}}; its timer elapses at {{at .}}{{end}}.{{with .Hours}} That is {{s . "hour"}} {{$.Side}} {{$.Of}}: times in the database are UTC, so check whether it was written in another zone.{{end}}`,
		`to plan it by its timer: nextrun task disable {{.ID}} && nextrun task enable {{.ID}}`},
	{"tick_left_out", "a calendar or a person leaves out a tick to come", leftOut,
		`{{if .NoTick}}A skip is written for {{at .Due}}, but its timer has no tick then, so nothing is left out{{else if .By}}Its tick of {{at .Due}} will be {{.By}}{{else}}Its tick of {{at .Due}} will be left out: {{.Calendar}}{{end}}`,
		`{{if .Calendar}}to run it all the same: nextrun task run {{.ID}}{{else}}to undo that: nextrun task skip {{.ID}} {{utc .Due}} --undo{{end}}`},

	{"job_elsewhere", "its job is in a queue that is not nextrun's own", elsewhere,
		`Its job{{with .Of}} of {{at .}}{{end}} is {{.State}}{{with .Began}}, begun {{since .}} ago,{{end}} in the queue "{{.Sink}}" (job {{.JID}}){{template "error" .}}`, ``},
	{"job_waits", "its job has just been added, is claimed, or is to begin later", ofJob("job_waits"),
		`{{if .Claimed}}{{.Subject}} has been claimed by {{.Claimed}}, and has not begun{{else if .Begins}}{{.Subject}} is to begin {{away .Begins}}, at {{at .Begins}}{{else}}{{template "lead" .}}{{.Free}} can take it, with a handler "{{.Handler}}" and a free place{{end}}`, ``},
	{"job_running", "its job runs", ofJob("job_running"),
		`{{if .Foreign}}{{.Subject}} is {{.State}} with another kind of executor{{with .Worker}}: {{.}}{{end}}{{else}}{{.Subject}} has been running for {{since .Started}} on {{.Worker}}{{template "error" .}}{{end}}`,
		`{{if not .Foreign}}to follow it: nextrun job log --follow {{.JID}}{{end}}`},
	{"job_silent", "its job runs on an executor that gives no sign of life", ofJob("job_silent"),
		`{{.Subject}} runs on {{.Worker}}, which last gave a sign of life {{away .Seen}}{{if .Long}}, and seems to have ended{{end}}. {{if .Others}}Another executor takes the job back within 12 s, and runs it again{{else}}No other executor runs that could take the job back, as far as the database shows{{end}}.`,
		`{{if not .Others}}start one: nextrun executor --config FILE{{end}}`},
	{"job_retrying", "its job failed and waits for its next attempt", ofJob("job_retrying"),
		`{{.Subject}} failed and is tried again {{away .Retry}}: {{.Attempt}}{{template "error" .}}`, `to try it now: nextrun job retry {{.JID}}`},
	{"job_limit", "as many jobs of its group, handler or task run as job_limit allows: 0 is a pause", ofJob("job_limit"),
		`{{template "lead" .}}the {{.Kind}} "{{.Name}}" {{if .Max}}may run {{s .Max "job"}} at once, and {{.Running}} run{{if eq .Running 1}}s{{end}}: {{template "jobs" .}}{{else}}is paused{{end}}`,
		`{{if .Max}}to allow more: nextrun job limit {{.Kind}} {{.Name}} NUMBER{{else}}to end the pause: nextrun job limit {{.Kind}} {{.Name}} none{{end}}`},
	{"job_no_executor", "no executor runs", ofJob("job_no_executor"),
		`{{template "lead" .}}no executor runs, as far as the database shows{{with .Had}}; {{.}}, which had a handler "{{$.Handler}}", seems to have ended{{end}}{{template "error" .}}`,
		`{{template "start" .}}start one: nextrun executor --config FILE`},
	{"job_no_handler", "executors run, and none has the handler of its job or of the next one, or takes jobs of its group", ofJob("job_no_handler"),
		`{{if .Subject}}{{template "lead" .}}no{{else}}No{{end}} executor that runs {{if .Knowing}}and has a handler "{{.Handler}}" takes jobs of the group "{{.Group}}"{{else}}has a handler "{{.Handler}}"{{template "near" .}}{{end}}`,
		`{{if .Knowing}}add "{{.Group}}" to ` + "`groups`" + ` of {{.Knowing}}, or start another executor{{else}}{{template "start" .}}{{template "define" .}}{{end}}`},
	{"job_no_place", "all places of the executors that could take it are taken", ofJob("job_no_place"),
		`{{template "lead" .}}{{if eq .Places 1}}the only place of {{.Capable}} is taken{{else}}all {{.Places}} places of {{.Capable}} are taken{{end}}: by {{template "jobs" .}}`,
		"wait for one of them, raise `pool_size`, or start another executor"},
	{"job_not_taken", "an executor could take its job and has not: its row is locked, or the database does not show why", ofJob("job_not_taken"),
		`{{template "lead" .}}{{.Free}} could take it, {{if .Who}}but its row is locked by {{.Who}}{{else}}with a handler "{{.Handler}}" and a free place, and has not; the database does not show why{{end}}`,
		`{{if .Who}}{{.Remedy}}{{else}}look at the log of the executor, and ask for its health: nextrun health{{end}}`},

	{"run_failed", "the last run failed", runFailed,
		`Its last run failed {{away .At}}{{if gt .Attempts 1}}, after {{.Attempts}} attempts{{end}}{{with .Error}}: {{first .}}{{end}}{{template "streak" .}}`,
		`{{if .Own}}the whole output: nextrun job log {{.JID}}; to run the job again: nextrun job retry {{.JID}}{{else}}{{if .Retries}}to put the job back: nextrun job retry {{.JID}}; to run the task anew{{else}}to run the task again{{end}}: nextrun task run {{.ID}}{{end}}`},
	{"run_unknown", "the queue of the last run does not have it any more, so nobody knows how it ended", runUnknown,
		`How its last run ended is not known: the queue "{{.Sink}}" does not have the job any more`,
		"if its workers delete jobs that succeed, set `gone: success` of queues.{{.Sink}}"},
	{"task_stale", "no run has succeeded that must have by now", stale,
		`{{with .Success}}No run has succeeded since {{at .}}{{else}}No run has succeeded yet{{end}}; the tick of {{at .Expected}} should have by now`, ``},
	{"task_overlaps", "it loses ticks, or its jobs are replaced, because they end after the next one is due", overlaps,
		`{{if .Replaced}}Its last {{.Replaced}} jobs that ended were cancelled, because the next tick was due before they had ended{{else}}{{.Skipped}} of its last {{.Ticks}} ticks were skipped, because the job before had not ended{{end}}`,
		`{{if .Replaced}}give it a longer interval, or let its ticks wait: nextrun task set {{.ID}} --overlap queue{{else if not .Nobody}}its newest ticks: nextrun tick list --task {{.ID}}; its jobs run or wait for longer than its interval: a longer one helps, or faster jobs{{end}}`},
	{"tick_skipped", "the last tick was skipped", notRun(periodic.Skipped), `The tick of {{at .Due}} was skipped: {{.Reason}}`,
		`{{if .Pending}}to run it afterwards instead: nextrun task set {{.ID}} --overlap queue{{end}}`},
	{"tick_missed", "the last tick was missed, perhaps with others, or decided after its deadline", notRun(periodic.Missed, periodic.Late),
		`{{if .Late}}The tick of {{at .Due}} was too late{{else if lt .Missed 0}}More than 10,000 ticks were missed, from {{at .Due}} to {{at .Until}}{{else if gt .Missed 1}}{{.Missed}} ticks were missed, from {{at .Due}} to {{at .Until}}{{else}}The tick of {{at .Due}} was missed{{end}}: {{.Reason}}`,
		`{{if .Late}}a longer deadline: nextrun task set {{.ID}} --deadline SECONDS{{else}}to run what was missed now: nextrun task backfill {{.ID}} --from {{utc .Due}} --to {{utc .After}}{{end}}`},

	{"event_undelivered", "the last event, or an older one of its topic, waits for a relay, is not delivered, or was given up", eventUndelivered,
		`{{if .Dead}}Its last event was refused too often and set aside: {{.Problem}}{{else if .Behind}}Its last event waits behind an older one of its topic, which is not delivered yet: {{.Problem}}{{else if .Problem}}Its last event is not delivered yet: {{.Problem}}{{else}}{{if .Last}}Its last event{{else}}The oldest event of its topic{{end}} has been waiting for a relay for {{span .Age}}{{end}}`,
		`{{if .Dead}}nextrun event resend {{.Event}}{{else if .Problem}}nextrun event list --topic {{.Topic}}{{else}}is a relay running that has the topic "{{.Topic}}"? start one: nextrun relay --config FILE{{end}}`},
	{"hook_undelivered", "a hook waits for an executor, is tried again, or was given up", hookUndelivered,
		`Its hook {{.Hook}} {{if .Dead}}was given up: {{.Error}}{{else if .Refused}}is not delivered, and is tried again: {{.Error}}{{else}}waits for an executor that has hooks{{end}}`,
		`{{if .Dead}}to deliver it again: nextrun job retry {{.JID}}{{else if .Refused}}more about it: nextrun job show {{.JID}}{{else}}is a process running whose configuration has this hook? start one: nextrun executor --config FILE{{end}}`},
	{"not_read", "a part of what is known cannot be read, such as for a missing right", notRead,
		`There may be more to say. What cannot be read: {{.Parts}}`, `{{if .Right}}to give the rights that are missing: psql -f dist/postgres/roles.sql{{end}}`},
}

// shared are the parts of sentences that several causes have.
const shared = `{{define "due"}}{{if .Unplanned}}No scheduler has planned it, although it was added or changed {{span .Late}} ago{{else}}It has been due for {{span .Late}}{{end}}{{end}}` +
	`{{define "lead"}}{{.Subject}}{{if .Soon}} failed, and {{.Attempt}} is due {{away .Retry}}. Now {{else if .Attempt}} failed, and {{.Attempt}} has been due for {{since .From}}: {{else if .Again}}, which an executor had before, waits again: {{else}} has been waiting for {{since .From}}: {{end}}{{end}}` +
	`{{define "jobs"}}{{range $i, $job := .Jobs}}{{if $i}}, {{end}}job {{.JID}} (handler {{.Task}}{{with .Tracker}}, task {{.}}{{end}}){{if not .Started.IsZero}} for {{since .Started}}{{end}}{{end}}{{with .More}}, and {{.}} more{{end}}{{end}}` +
	`{{define "near"}}{{with .Near}}; did you mean "{{.}}"?{{else}}; {{.Have}}{{end}}{{end}}` +
	`{{define "start"}}{{with .Program}}if "{{.}}", which declares the task, is a program: start it; else {{end}}{{end}}` +
	`{{define "define"}}{{if and .Near .Program}}correct the handler there, or define handlers.{{.Handler}} in the configuration of an executor{{else if .Near}}nextrun task set {{.Task}} --handler {{.Near}}, or define handlers.{{.Handler}}{{else}}define handlers.{{.Handler}} in the configuration of an executor, or register it in your program{{end}}{{end}}` +
	`{{define "error"}}{{with .Error}}. The last attempt failed: {{first .}}{{end}}{{end}}` +
	`{{define "streak"}}{{if and (gt .Streak.Failed 1) (not .Streak.Since.IsZero)}}. It has {{inARow .Streak}}.{{end}}{{end}}`
