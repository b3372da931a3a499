//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// faulty is a database to which faults happen.
type faulty interface {
	url(instance int) string // on a way that faults happen to; beyond the last instance: for who checks
	handle() *sql.DB         // of the superuser
	lanes() [][]kind
	heal(ctx context.Context)
	close()
}

// execute runs statements one after the other.
func execute(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%w in %s", err, s)
		}
	}
	return nil
}

// surely does something again and again until it succeeds.
func surely(ctx context.Context, patience time.Duration, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last := errors.New("no answer")
	for ; ctx.Err() == nil; wait(ctx, 200*time.Millisecond) {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
	}
	return fmt.Errorf("not within %s: %w", patience, last)
}

// await waits until a query says 0.
func await(ctx context.Context, db func() *sql.DB, patience time.Duration, query string) error {
	return surely(ctx, patience, func(ctx context.Context) error {
		var n int
		err := db().QueryRowContext(ctx, query).Scan(&n)
		if err == nil && n != 0 {
			err = fmt.Errorf("it is %d", n)
		}
		return err
	})
}

// stamp is a time as both databases read it.
func stamp(t time.Time) string { return t.UTC().Format("'2006-01-02 15:04:05.000000'") }

// disk is a directory that is a file system of its own, which can be full. Only root can make it.
type disk string

func newDisk(dir string) disk {
	if err := mount("-t", "tmpfs", "-o", "size=4G,mode=0700", "nextrun-chaos", dir); err != nil {
		say("no disk can be full here: %v", err)
		return ""
	}
	return disk(dir)
}

func mount(args ...string) error {
	if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// full leaves next to nothing free for a time.
func (d disk) full(ctx context.Context, r *rand.Rand, _ *fault) {
	if d == "" {
		panic(errNotNow)
	}
	var s syscall.Statfs_t
	must.Nil(syscall.Statfs(string(d), &s))
	used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
	must.Nil(mount("-o", fmt.Sprintf("remount,size=%d", used+64<<10), string(d)))
	spell(ctx, r, 2*time.Second, 8*time.Second)
	must.Nil(mount("-o", "remount,size=4G", string(d)))
}

// remove unmounts the disk, even if files of it are open.
func (d disk) remove() {
	if d != "" {
		_ = exec.Command("umount", "-l", string(d)).Run()
	}
}
