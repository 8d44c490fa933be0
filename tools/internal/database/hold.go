package database

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Hold is a name that a process holds in PostgreSQL, by a lock of a connection of its own: the
// database frees it at once when the process ends in any way. It is taken again when the
// connection breaks; a process that is stopped keeps it.
type Hold struct {
	db   *DB
	name string
	end  context.CancelFunc
	done chan struct{}

	mu   sync.Mutex
	lost time.Time // when the name was last seen not to be held
}

// Unheld is SQL for whether nobody holds the name in a column.
func Unheld(column string) string {
	return "pg_try_advisory_xact_lock_shared(" + lockOf(column) + ")" // until the end of the statement
}

// lockOf is the lock of a name.
func lockOf(name string) string { return "hashtextextended('toolcrib hold ' || " + name + ", 0)" }

// Hold takes a name that no other process takes.
func (db *DB) Hold(ctx context.Context, name string) (*Hold, error) {
	conn, err := db.take(ctx, name)
	if err != nil {
		return nil, err
	}
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	h := &Hold{db: db, name: name, end: end, done: make(chan struct{})}
	go h.keep(alive, conn)
	return h, nil
}

// errHeld says that somebody has the name, if only an earlier connection of this process.
var errHeld = errors.New("the name is held")

func (db *DB) take(ctx context.Context, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	config, err := configOf(db.url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	var mine bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+lockOf("$1")+")", name).Scan(&mine)
	if err == nil && !mine {
		err = errHeld
	}
	if err != nil {
		shut(conn)
		return nil, err
	}
	return conn, nil
}

// shut closes a connection, which may be broken.
func shut(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

// keep waits for the end of the connection, and takes the name again.
func (h *Hold) keep(ctx context.Context, conn *pgx.Conn) {
	defer close(h.done)
	for conn != nil {
		if _, err := conn.WaitForNotification(ctx); err != nil { // nobody notifies it
			h.missed() // before it is taken again, which can last
			shut(conn)
			conn = h.retake(ctx)
		}
	}
}

// retake returns nil once ctx has ended.
func (h *Hold) retake(ctx context.Context) *pgx.Conn {
	for ctx.Err() == nil {
		conn, err := h.db.take(ctx, h.name)
		h.missed()
		if err == nil {
			return conn
		}
		sleep(ctx, pause)
	}
	return nil
}

// missed notes that the name was not held until now.
func (h *Hold) missed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = time.Now()
}

// Lost returns when the name was last seen not to be held; zero: never.
func (h *Hold) Lost() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Release gives the name up.
func (h *Hold) Release() {
	h.end()
	<-h.done
}
