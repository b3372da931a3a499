// Package convert writes timers in the notation of other programs: as cron expressions
// of five fields, as calendar events of systemd, and as intervals. What it returns
// elapses as the timer does: each result is compared with it, elapse by elapse.
package convert
