// Package periodic submits the jobs of periodic tasks, on time and once. A row of the table periodic_task says what to
// submit and when. [Tasks] manages the rows; a program that has its own schedules makes them with [NewSchedule] and
// declares them at each start with [Tasks.Apply]. Package scheduler runs in any number of processes on one database. A
// [sink.Submitter] feeds a queue that is not nextrun's.
package periodic
