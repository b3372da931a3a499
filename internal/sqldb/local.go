package sqldb

import (
	"slices"
	"sync"
)

// local tells the watchers of this process what others of this process have committed, for
// databases that do not tell it. It is safe for concurrent use.
type local struct {
	mu       sync.Mutex
	watchers map[*watcher]bool
}

type watcher struct {
	topics []Topic
	wake   chan struct{} // of capacity 1
}

// watch begins to listen for topics, until stop is called.
func (l *local) watch(topics []Topic) (changed <-chan struct{}, stop func()) {
	w := &watcher{topics, make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watchers == nil {
		l.watchers = map[*watcher]bool{}
	}
	l.watchers[w] = true
	return w.wake, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watchers, w)
	}
}

// tell wakes those who watch one of the topics.
func (l *local) tell(topics []Topic) {
	if len(topics) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watchers {
		if slices.ContainsFunc(w.topics, func(t Topic) bool { return slices.Contains(topics, t) }) {
			select {
			case w.wake <- struct{}{}:
			default: // it is about to look anyway
			}
		}
	}
}

// Changes notes that rows of these topics change, for watchers of this process that the
// database does not tell. They are woken after the commit.
func (tx *Tx) Changes(topics ...Topic) { tx.changes = append(tx.changes, topics...) }
