package exchange

// PendingStates are the states of jobs that are not final, as a list for IN. The
// partial indexes over jobs are written with the same list, in the same order.
const PendingStates = "('waiting', 'scheduled', 'running', 'stuck')"
