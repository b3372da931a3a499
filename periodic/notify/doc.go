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
// jobs, and requests are coalesced: while one is in flight, or waits for a retry, all
// further commits together cause one more. A notifier never delays the scheduler.
//
// # Answers
//
// 2xx accepts. 4xx, except for 408, 425 and 429, and redirects, which are not
// followed, are not retried. All other answers, and requests without an answer, are
// retried once, a second later or when Retry-After says. After that the notifier waits
// for the next commit. It logs when it gives up, once, and when a request succeeds again. No log
// line shows the query of a URL, a password in it, or the value of a header.
package notify
