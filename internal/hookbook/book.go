// Package hookbook finds the hooks for what happens, writes their events and delivers these.
package hookbook

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Book finds the hooks for what happens, and the events for the hooks. It does not
// change and is safe for concurrent use.
type Book struct {
	hooks  hooks.Hooks
	places map[string]hooks.Action // by the beginning of the topics that belong to a hook
	kinds  map[Kind]bool           // those of which there is a hook
}

// NewBook returns the book of hooks, or an error that names what is wrong with them.
func NewBook(h hooks.Hooks) (*Book, error) {
	if err := Validate(h); err != nil {
		return nil, err
	}
	b := &Book{hooks: h, places: map[string]hooks.Action{}, kinds: map[Kind]bool{}}
	for _, one := range List(h) {
		if one.Action != hooks.None {
			b.places[place(one)] = one.Action
			b.kinds[one.Kind] = true
		}
	}
	return b, nil
}

// Hears reports whether there is a hook for an event of the jobs of a handler that
// belong to a task, or for what it turned.
func (b *Book) Hears(handler, task string, e hooks.Event, turned jobqueue.Turned) bool {
	for _, k := range kindsOf(e) {
		if hook, ok := Of(b.hooks, k, handler, task); ok && b.kinds[k] && hook.hears(turned) {
			return true
		}
	}
	return false
}

// HearsSome reports whether there may be a hook for an event, whatever the job and what it turns.
func (b *Book) HearsSome(e hooks.Event) bool {
	for _, k := range kindsOf(e) {
		if b.kinds[k] {
			return true
		}
	}
	return false
}

// Events are the events of a notice: one for each hook that hears of it.
func (b *Book) Events(n hooks.Notice) []outbox.Event {
	var events []outbox.Event
	event := n.Event
	for _, k := range kindsOf(event) {
		hook, ok := Of(b.hooks, k, n.Handler, n.Task)
		if !ok || !hook.hears(n.Turned) {
			continue
		}
		n.Event = of(k, event)
		n.ID, n.Hook = jobqueue.NewID(), hook.Name
		events = append(events, outbox.Event{
			ID: n.ID, Topic: topic(hook, ownerOf(n)), Type: string(n.Event), AggregateID: n.ID, Payload: text.JSON(n), Traceparent: n.Traceparent,
		})
	}
	return events
}

// Has reports whether the events of a topic are for one of the hooks.
func (b *Book) Has(topic string) bool { return b.action(topic) != nil }

func (b *Book) action(topic string) hooks.Action {
	name, ok := strings.CutPrefix(topic, bounds.HookTopics)
	if !ok {
		return nil
	}
	if a := b.places[name]; a != nil {
		return a
	}
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return b.places[name[:i]]
	}
	return nil
}

// place is the beginning of the names of a hook's topics.
func place(h Hook) string {
	switch {
	case h.Task != "":
		return "tasks/" + piece(h.Task) + "/" + string(h.Kind)
	case h.Handler != "":
		return "handlers/" + piece(h.Handler) + "/" + string(h.Kind)
	}
	return "all/" + string(h.Kind)
}

// topic is the topic of the events for a hook: each owner has its own.
func topic(h Hook, owner string) string {
	name := bounds.HookTopics + place(h)
	if h.Task == "" {
		name += "/" + piece(owner)
	}
	return name
}

// maxPiece is the length from which an id is shortened: two of them fit into the name
// of a topic.
const maxPiece = 90

// piece is an id as a part of the name of a topic. A long one is cut; its hash keeps it
// apart from others.
func piece(id string) string {
	escaped := url.PathEscape(id)
	if len(escaped) <= maxPiece {
		return escaped
	}
	hash := sha256.Sum256([]byte(id))
	return escaped[:maxPiece-33] + "~" + hex.EncodeToString(hash[:16])
}

// IsAbout reports whether the events of a topic are about a task.
func IsAbout(topic, task string) bool {
	name, ok := strings.CutPrefix(topic, bounds.HookTopics)
	return ok && (strings.HasPrefix(name, "tasks/"+piece(task)+"/") || !strings.HasPrefix(name, "tasks/") && strings.HasSuffix(name, "/"+piece(task)))
}

// Topics are those that the events about a task may be in, whatever hooks there are.
func Topics(handler, task string) []string {
	var list []string
	for _, k := range append(Kinds(), OnPing) {
		list = append(list, topic(Hook{Kind: k, Task: task}, task), topic(Hook{Kind: k, Handler: handler}, task), topic(Hook{Kind: k}, task))
	}
	return list
}
