// Package service has what all background services share: the scheduler, the relay,
// the executor, the elector.
//
// A [Lifecycle] starts once, wakes up without blocking, stops in two steps and
// waits for its goroutines. A service has one as a field. The service's Start,
// Stop, Wake and Done call those of the field, and document what they do:
//
//	func (r *Relay) Start(ctx context.Context) error {
//		return r.life.Start(ctx, r.loop, r.watch) // r.watch ends when r.loop does
//	}
//
//	func (r *Relay) Stop(ctx context.Context) error { return r.life.Stop(ctx) }
//
// The two steps are two contexts. When the soft one ends, the service begins
// nothing new and finishes what is in flight. When the hard one ends, it gives up
// what is in flight. So a loop waits on the soft context and works with the hard
// one:
//
//	func (r *Relay) loop(soft, hard context.Context) {
//		for soft.Err() == nil {
//			r.publish(hard)
//			select {
//			case <-soft.Done():
//			case <-r.life.Woken():
//			case <-time.After(pollInterval):
//			}
//		}
//	}
//
// [Backoff] spaces out attempts to reach what is down, and [WorkerID] tells
// processes of the same name apart. [SetDefault] and [Check] serve their Configs.
package service
