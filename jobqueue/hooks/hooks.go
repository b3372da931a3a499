package hooks

// Set says what to do on each occasion. Of an action that is nil, the next more
// general Set decides; [None] silences.
type Set struct {
	OnFailure, OnSuccess, OnMissed, OnRecovered, OnPaused Action
	// Ping is only for a task. It comes beside the others.
	Ping Action
}

// Hooks says what to do for which jobs. The most specific [Set] that has an action
// decides: that of the task, then that of the handler, then All.
type Hooks struct {
	All      Set
	Handlers map[string]Set // by the name of the handler: Job.Task
	Tasks    map[string]Set // by the id of the periodic task: Job.Tracker
}
