package postgres

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/lib/pq"

	server "github.com/nextrun/nextrun/store/internal/postgres"
)

// busyListener hears much before the answer to a ping.
type busyListener chan *pq.Notification

func (b busyListener) NotificationChannel() <-chan *pq.Notification { return b }

func (b busyListener) Ping() error {
	for range 100 {
		b <- &pq.Notification{}
	}
	close(b)
	return nil
}

// A listener ends even if many notifications arrive before the answer to a ping.
func TestListenerEndsAmongManyNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		heard := 0
		hear(ctx, busyListener(make(chan *pq.Notification)), server.Listener{Heard: func() { heard++; end() }})
		if heard == 0 {
			t.Error("nothing was heard before the end")
		}
	})
}
