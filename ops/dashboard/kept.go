package dashboard

import (
	"sync"
	"time"
)

// keptFor is how long what costs much to read is shown to all, and manyRows from how many rows on it does: tasks, or runs of a day.
const (
	keptFor  = 15 * time.Second
	manyRows = 1000
)

// kept is what all visitors see alike, and costs much to read where there are many rows: then it is read once in a while. An action
// forgets it.
type kept[T any] struct {
	mutex     sync.Mutex
	value     T
	until     time.Time // it is read anew then
	forgotten int       // how often
}

// get returns the value. read also says of how many rows it is. Nobody waits for what another one reads, and what was forgotten
// meanwhile is not kept.
func (k *kept[T]) get(now time.Time, read func() (T, int, error)) (T, error) {
	k.mutex.Lock()
	value, fresh, forgotten := k.value, now.Before(k.until), k.forgotten
	k.mutex.Unlock()
	if fresh {
		return value, nil
	}
	value, rows, err := read()
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if err == nil && rows >= manyRows && k.forgotten == forgotten {
		k.value, k.until = value, now.Add(keptFor)
	}
	return value, err
}

func (k *kept[T]) forget() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.until, k.forgotten = time.Time{}, k.forgotten+1
}
