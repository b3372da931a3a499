// Package notify tells a queue's consumers, by an HTTP request, that there are new
// jobs. It is for consumers that would otherwise find them only when they poll next.
//
//	n, err := notify.New(notify.Config{Sink: "legacy", URL: "https://worker.example.org/wake"})
//	scheduler, err := scheduler.New(store, scheduler.Config{Name: "app", Observe: n.Observe})
//	err = n.Start(ctx)         // before the scheduler
//	err = scheduler.Start(ctx) // ...
//	err = n.Stop(ctx)          // after the scheduler
//
// A request follows the commit: whoever receives it finds the jobs. It carries no
// jobs, and requests are coalesced: while one is in flight, all further commits together cause one more. A notifier never delays the scheduler.
//
// # Answers
//
// 2xx accepts. Nothing is retried, and no redirect is followed: the next commit causes the next request, and
// consumers look for jobs themselves now and then. The first failure is logged, and the next success. No log
// line shows the query of a URL or a password in it.
package notify
