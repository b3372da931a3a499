// Package schedules takes over the schedules of other programs, and gives them back:
// crontabs, systemd's timers, CronJobs of Kubernetes and the jobs of pg_cron.
//
// Each program is a [Kind], in a package of its own. A kind reads its format and
// returns an [Item] for each schedule, which says what became of it: taken, changed
// and how, or refused and why. [Assign] gives the tasks their ids, without touching
// rows that come from elsewhere.
//
// No command gets into a row: an [Entry] carries the handler that would run it, for
// the configuration file, or args for a handler or queue that the user names.
package schedules
