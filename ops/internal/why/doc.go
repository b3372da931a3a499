// Package why explains tasks, jobs and ticks: [Read] gathers the facts, a table of causes ([Causes]) turns them into findings,
// and [Tell] tells the story of one tick. Conditions are about facts; words are made last, with times in the reader's zone.
package why
