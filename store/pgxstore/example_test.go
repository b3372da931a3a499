package pgxstore_test

import (
	"context"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/pgxstore"
)

// A program writes a row of its own and a task in one transaction of pgx.
func ExampleTx() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	must(err)
	defer pool.Close()
	db, err := pgxstore.New(ctx, pool, store.Options{})
	must(err)
	defer db.Close()
	tasks := periodic.NewTasks(db.Tasks())

	tx, err := pool.Begin(ctx)
	must(err)
	defer tx.Rollback(ctx)
	_, err = tx.Exec(ctx, `INSERT INTO orders (id) VALUES ($1)`, 4711)
	must(err)
	reminder := periodic.NewTask("remind-4711", "remind", "Mon 09:00 Europe/Berlin")
	must(tasks.In(pgxstore.Tx(tx)).Add(ctx, reminder))
	must(tx.Commit(ctx))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
