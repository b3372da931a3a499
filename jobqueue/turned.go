package jobqueue

// Turned is what the end of a job meant for its periodic task; empty: nothing.
type Turned string

// What a job may mean for its task.
const (
	Failing   Turned = "failing"   // it is the first that failed after a success
	Recovered Turned = "recovered" // it is the first that succeeded after failures
)
