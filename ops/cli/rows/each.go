package rows

import (
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Each does something to rows, one after another: do returns what it did, to be printed.
func Each(env *ui.Env, ids []string, do func(id string) (string, error)) error {
	for _, id := range ids {
		done, err := do(id)
		if err != nil {
			return err
		}
		if err := env.Printf("%s\n", done); err != nil {
			return err
		}
	}
	return nil
}

// findAll finds what texts mean: all of it, before any of it is changed.
func findAll(texts []string, find func(text string) (string, error)) ([]string, error) {
	ids := make([]string, len(texts))
	for i, text := range texts {
		var err error
		if ids[i], err = find(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
