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
	mutex sync.Mutex
	value T
	until time.Time // it is read anew then
}

// get returns the value. read also says of how many rows it is.
func (k *kept[T]) get(now time.Time, read func() (T, int, error)) (T, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if now.Before(k.until) {
		return k.value, nil
	}
	value, rows, err := read()
	if err == nil && rows >= manyRows {
		k.value, k.until = value, now.Add(keptFor)
	}
	return value, err
}

func (k *kept[T]) forget() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.until = time.Time{}
}
