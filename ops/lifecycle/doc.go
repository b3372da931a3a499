// Package lifecycle starts the parts of a process in stages, checks that all of them
// are healthy before it calls the process started, reports on their health from then
// on, and stops them in reverse order. `nextrun serve` is built on it; a program that
// embeds a scheduler, an executor or a relay can use it in the same way:
//
//	process, err := lifecycle.New(lifecycle.Config{HealthAddress: "127.0.0.1:8321"})
//	...
//	process.Add(lifecycle.Database(db), lifecycle.Schema(db, true, nil)) // true: make the tables
//	process.AddService("executor", executor)
//	process.AddService("scheduler", scheduler) // it stops first, and submits nothing while running jobs end
//	err = process.Run(ctx) // until ctx ends or a service does
//
// A [Stage] has a name, an undo and a check of its health; [Process.AddService] makes
// one of anything with Start, Stop and Done. If a stage fails, the error is a
// [*StageError] that names it, and the stages before it are stopped.
//
// Under systemd (NOTIFY_SOCKET is set), the process says when it has started and when
// it stops, and with WatchdogSec= that its services are not stuck: see Type=notify in
// systemd.service(5).
package lifecycle
