package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/nextrun/nextrun/store"
)

// A file that is new to all is opened by any number of processes at once: one makes it a WAL database, which locks out
// the others for a moment.
func TestManyOpenANewSQLiteFileAtOnce(t *testing.T) {
	t.Parallel()
	for range 300 {
		url := "sqlite:" + filepath.Join(t.TempDir(), "nextrun.db")
		results := make(chan error)
		for range 16 {
			go func() {
				db, err := store.Open(context.Background(), url, store.Options{Create: true})
				if err == nil {
					err = errors.Join(err, db.Close())
				}
				results <- err
			}()
		}
		for range 16 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
}
