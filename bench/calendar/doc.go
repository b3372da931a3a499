// Package calendar_bench compares the timers of nextrun with gronx and robfig/cron, side by side in one run. It is a
// module of its own, so that the product does not depend on robfig/cron.
package calendar_bench
