// Package simulate replays tasks through time without a database: which ticks get jobs,
// which are skipped, and how many jobs run at a time. It decides with [decide.Decide], as the
// scheduler does, so a year of thousands of tasks takes seconds. A test compares it with
// the scheduler on a real database.
package simulate
