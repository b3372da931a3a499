// Package hooks tells somebody, or starts something, when jobs end and when ticks
// get no job: it runs a command, posts JSON to a URL, submits a periodic task, or pings
// a dead man's switch.
//
// A hook is as reliable as an event, because it is one. Whoever ends the job or decides
// the tick writes an event of a reserved topic into the outbox, in the same
// transaction. A relay delivers it, at least once, and tries again until the receiver
// has accepted it. What cannot be delivered within a day is set aside as a dead
// event, which people see and can resend. The event names the hook; what the hook does
// comes from the configuration of the process that delivers it, so no URL and no
// secret gets into the database.
//
// Each hook of each task has a topic of its own, and so its own order: a receiver that
// is down delays no other hook.
//
// [Hooks] is the configuration. store.DB.Hooks connects it with a database: its result
// is the field Hooks of executor.Config and of scheduler.Config, and makes the relay.
package hooks
