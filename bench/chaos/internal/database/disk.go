//go:build linux

package database

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// disk is a file system of its own in a directory, which can be full; only root can make it.
type disk struct {
	dir string
	err error // there is none
}

// roomy is the size of a disk that is not full. It is in memory, and only what is used counts.
const roomy = 4 << 30

func newDisk(dir string) *disk {
	return &disk{dir, mount("-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0700", roomy), "nextrun-chaos", dir)}
}

func mount(args ...string) error {
	if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// full leaves next to nothing free for a time.
func (d *disk) full(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	if d.err != nil {
		return d.err
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		return err
	}
	used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
	if err := d.resize(used + 64<<10); err != nil {
		return err
	}
	fault.Spell(ctx, r, 2*time.Second, 8*time.Second)
	return d.resize(roomy)
}

func (d *disk) resize(size uint64) error {
	return mount("-o", fmt.Sprintf("remount,size=%d", size), d.dir)
}

// remove unmounts the disk, even if files of it are open.
func (d *disk) remove() {
	if d.err == nil {
		_ = exec.Command("umount", "-l", d.dir).Run()
	}
}
