package queues

// endedTrigger says on which table, and when, a job ends.
type endedTrigger struct {
	schema, table string
	ref           string // the column that references are made of
	column        string // the one that says whether a job is final; empty: only its removal ends it
	final         string // the values of that column that are final, as a list for IN
}
