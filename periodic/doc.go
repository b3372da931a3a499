// Package periodic submits the jobs of periodic tasks, on time and once. Rows of the table periodic_task say what and
// when; [Tasks] manages them. A program declares its own at each start: [NewSchedule], [Tasks.Apply]. Package scheduler
// runs in any number of processes. A [sink.Submitter] feeds other queues.
package periodic
