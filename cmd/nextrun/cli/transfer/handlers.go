package transfer

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/periodic"
)

// handlersMark begins files of handlers, so that they may be written again.
const handlersMark = "# written by nextrun import; a change by hand is lost when it runs again\n"

// oldHandlers are those that the file of handlers has already, of this or of other
// imports. It fails if the file cannot be written, before any task is.
func (i *importing) oldHandlers() (map[string]config.Handler, error) {
	if i.handlers == "" || i.handlers == "-" {
		return nil, nil
	}
	old, err := os.ReadFile(i.handlers)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !strings.HasPrefix(string(old), handlersMark):
		return nil, fmt.Errorf("%s exists and was not written by an import; name another file with --handlers", i.handlers)
	}
	c, err := config.Read(i.handlers)
	if err != nil {
		return nil, fmt.Errorf("the handlers of earlier imports: %w", err)
	}
	maps.DeleteFunc(c.Handlers, func(_ string, h config.Handler) bool { return h.Command == nil && h.SQL == nil }) // written by hand
	return c.Handlers, nil
}

// merged are the handlers of an import with those that the file had. Those of tasks that
// were deleted go; others that the import does not need stay, since other imports may.
func merged(r *result, old map[string]config.Handler) map[string]config.Handler {
	all := maps.Clone(r.handlers)
	for name, h := range old {
		if _, is := all[name]; !is && !slices.ContainsFunc(r.changes, func(c periodic.TaskChange) bool {
			return c.ID == name && c.Action == periodic.ActionDelete
		}) {
			all[name] = h
		}
	}
	return all
}

// writeHandlers writes the handlers that the tasks need; to a file not with --dry-run.
func (i *importing) writeHandlers(r *result, old map[string]config.Handler) error {
	switch {
	case i.handlers == "", !i.target.OwnHandlers():
		return nil
	case i.handlers == "-":
		return config.WriteHandlers(i.env.Stdout, r.handlers)
	case i.dryRun:
		return nil
	}
	all := merged(r, old)
	if err := i.reportHandlers(all, old); err != nil {
		return err
	}
	text := bytes.NewBufferString(handlersMark)
	if err := config.WriteHandlers(text, all); err != nil {
		return err
	}
	return os.WriteFile(i.handlers, text.Bytes(), 0o600) // commands may hold secrets
}

// reportHandlers says what changes in the file of handlers.
func (i *importing) reportHandlers(all, old map[string]config.Handler) error {
	if i.asJSON || len(old) == 0 {
		return nil
	}
	var added, changed, removed []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		before, had := old[name]
		switch {
		case !had:
			added = append(added, name)
		case !reflect.DeepEqual(newHandlerJSON(before), newHandlerJSON(all[name])):
			changed = append(changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, has := all[name]; !has {
			removed = append(removed, name)
		}
	}
	text := ""
	for _, part := range []struct {
		what  string
		names []string
	}{{"added", added}, {"changed", changed}, {"removed", removed}} {
		if len(part.names) > 0 {
			text += "; " + part.what + ": " + strings.Join(part.names, ", ")
		}
	}
	if text == "" {
		text = "; nothing changed"
	}
	return i.env.Printf("%s: %d handlers%s\n", ui.Cell(i.handlers), len(all), ui.Cell(text))
}
