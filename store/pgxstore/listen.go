package pgxstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/store/internal/postgres"
)

// patience is how long it may take to make a connection.
const patience = 10 * time.Second

// place is where watchers listen.
type place struct {
	config *pgx.ConnConfig
	before func(context.Context, *pgx.ConnConfig) error // of the pool; nil: nothing to do
}

// placeOf is that of a pool, or else of a URL.
func placeOf(pool *pgxpool.Config, url string) (place, error) {
	if url == "" {
		return place{pool.ConnConfig, pool.BeforeConnect}, nil
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return place{}, fmt.Errorf("store.Options.ListenURL: %w", err)
	}
	return place{config: config}, nil
}

// listen is a [postgres.Listen].
func (p place) listen(ctx context.Context, l postgres.Listener) {
	pause := service.Backoff{Least: postgres.ListenAgainMin, Most: postgres.ListenAgainMax}
	for ctx.Err() == nil {
		conn, err := p.connect(ctx, l)
		if err == nil {
			pause.Reset()
			l.Made()
			l.Lost(hear(ctx, conn, l))
			closeConn(ctx, conn)
		} else {
			l.Failed(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.Next()):
		}
	}
}

// connect makes a connection that listens.
func (p place) connect(ctx context.Context, l postgres.Listener) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	config := p.config.Copy()
	if p.before != nil {
		if err := p.before(ctx, config); err != nil {
			return nil, err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	for _, channel := range l.Channels {
		if _, err := conn.PgConn().Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()).ReadAll(); err != nil {
			closeConn(ctx, conn)
			return nil, err
		}
	}
	return conn, nil
}

// hear hands on what a connection hears, until it is lost.
func hear(ctx context.Context, conn *pgx.Conn, l postgres.Listener) error {
	for {
		waiting, cancel := context.WithTimeout(ctx, postgres.PingEvery)
		_, err := conn.WaitForNotification(waiting)
		cancel()
		if err == nil {
			l.Heard()
			continue
		}
		if ctx.Err() == nil && pgconn.Timeout(err) {
			err = ping(ctx, conn)
		}
		if err != nil {
			return err
		}
	}
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, postgres.PingLimit)
	defer cancel()
	return conn.Ping(ctx)
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), postgres.LastMoment)
	defer cancel()
	_ = conn.Close(ctx)
}
