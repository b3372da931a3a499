// Package report prints what a worker does, for the tests that read it.
package report

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

var printing sync.Mutex

// Event prints a line of JSON with the event's name, the time, and more.
func Event(name string, about map[string]any) {
	line := map[string]any{"event": name, "at": time.Now().UTC().Format(time.RFC3339Nano)}
	for key, value := range about {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
}
