// Package watched notices that files were replaced: by a rename, by another target of a link, as those of mounted
// secrets, or by writing. Who uses what a file holds asks before each use.
package watched

import (
	"os"
	"sync"
	"time"
)

// settle is how long ago a file must have been written, which then is whole.
const settle = time.Second

// Files are files that are watched. They are safe for concurrent use. The zero value watches none.
type Files struct {
	mu   sync.Mutex
	seen map[string]os.FileInfo // by path: at the last look
}

// Add watches a file from now on. Call it before the file is read.
func (f *Files) Add(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[string]os.FileInfo{}
	}
	f.seen[path], _ = os.Stat(path) // nil if it is not there
}

// Changed reports whether a file is another one than when it was last called. One that is missing or
// has just been written may be half a file: it is looked at again by the next call.
func (f *Files) Changed() (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, was := range f.seen {
		now, err := os.Stat(path)
		if err != nil {
			continue
		}
		if was != nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size() {
			continue
		}
		if age := time.Since(now.ModTime()); age < 0 || age >= settle { // a time to come is of another clock
			f.seen[path], changed = now, true
		}
	}
	return changed
}
