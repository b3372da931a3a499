// Package hooks tells somebody, or starts something, when jobs end, when tasks are paused
// and when ticks get no job: it runs a command, posts JSON to a URL, submits a periodic
// task, or pings a dead man's switch.
//
// A hook is a job. Whoever ends a job or decides a tick inserts a job of the handler
// jobqueue.HookHandler for each hook that hears it, in the same transaction. Any executor
// that has hooks runs it, tries it again like other jobs, and it is pruned like them. Its
// args are the [Notice], which names the hook; what the hook does comes from the
// configuration of the process that runs it, so no URL and no secret gets into the
// database. Such jobs have no hooks themselves, and they are delivered in no order.
//
// [Hooks] is the configuration. store.DB.Hooks connects it with a database: its result
// is the field Hooks of executor.Config and of scheduler.Config.
package hooks
