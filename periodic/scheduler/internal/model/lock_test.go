package model

import (
	"fmt"

	"github.com/nextrun/nextrun/periodic/leader"
)

// This file is store/internal/lock: the row of scheduler_lock.

// guard is Guard: the row must name this process and its term. It stays locked (FOR SHARE) until the transaction
// ends.
func (w *world) guard(i *instance, t *txn) error {
	ours := w.lock.holder == i.id() && w.lock.token == t.fence
	if !ours && !w.off(guardCheck) {
		return leader.ErrLost
	}
	t.shares = !w.off(guardShare)
	return nil
}

// changeable reports whether no transaction keeps the lock's row.
func (w *world) changeable() bool {
	for _, t := range w.transactions(nil) {
		if t.shares {
			return false
		}
	}
	return true
}

// lock adds what a process can do with the lock: Take takes it if it is ours, or expired, with a new token;
// Renew moves its end if the term is ours.
func (a *actions) lock(do doing, i *instance) {
	w := a.w
	if !i.led || !w.changeable() {
		return
	}
	ours := i.token != 0 && w.lock.holder == i.id() && w.lock.token == i.token
	live := w.lock.expires > w.now && w.lock.expires <= w.now+2*ttl
	if i.token == 0 && (!live || w.lock.holder == i.id()) {
		token := w.lock.token + 1
		do(fmt.Sprintf("acquires the lock with token %d", token), func(w *world, i *instance) bool {
			w.lock = lockRow{holder: i.id(), token: token, expires: w.now + ttl}
			i.token = token
			return true
		})
	}
	if ours && w.lock.expires < w.now+ttl {
		do("renews the lock", func(w *world, _ *instance) bool { w.lock.expires = w.now + ttl; return true })
	}
}
