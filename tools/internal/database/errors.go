package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"toolcrib/tools"
	"toolcrib/workspace/state"
)

// lost reports whether an error says that the database could not be reached, or had to end
// a transaction for reasons of its own, so that trying again may help.
func (db *DB) lost(err error) bool {
	if err == nil || db.url == "" || errors.Is(err, sql.ErrNoRows) || errors.Is(err, errUncertain) {
		return false
	}
	if _, ours := errors.AsType[*tools.Error](err); ours {
		return false
	}
	told, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return disconnected(err)
	}
	switch told.Code {
	case "40001", "40P01", "53300": // serialization, deadlock, too many connections
		return true
	}
	return strings.HasPrefix(told.Code, "57P") || strings.HasPrefix(told.Code, "08") // it shuts down or starts; connection
}

// disconnected reports whether an error is one of a connection: it could not be made, it broke,
// or it does not answer in time.
func disconnected(err error) bool {
	if _, network := errors.AsType[net.Error](err); network {
		return true
	}
	if _, dial := errors.AsType[*pgconn.ConnectError](err); dial {
		return true
	}
	return pgconn.SafeToRetry(err) || slices.ContainsFunc([]error{
		driver.ErrBadConn, sql.ErrConnDone, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF,
	}, func(known error) bool { return errors.Is(err, known) })
}

// lacks reports whether an error says that a table or a column is not there.
func lacks(err error) bool {
	code, told := sqliteOf(err)
	answer, isPostgres := errors.AsType[*pgconn.PgError](err)
	return code == sqliteError && strings.Contains(told.Error(), "no such ") || isPostgres && (answer.Code == "42P01" || answer.Code == "42703")
}

// The primary result codes of SQLite that have words of their own.
const (
	sqliteError    = 1
	sqliteBusy     = 5
	sqliteReadOnly = 8
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteNotADB   = 26
)

// Told returns an error of the database, or of a file of the state, as an unavailable one that
// says what to do. An error of ours stays, and that of a call that was cancelled.
func Told(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ours := errors.AsType[*tools.Error](err); ours {
		return err
	}
	msg, hint := Cause(err)
	if msg == "" {
		msg, hint = "the state database does not answer", elseHint
	}
	return &tools.Error{Code: tools.Unavailable, Msg: msg, Hint: hint, Err: err}
}

const (
	elseHint  = "toolcrib doctor says more; other tools work"
	newerHint = "update toolcrib, or give this one another --state-dir"
)

// sqliteOf returns the primary result code of the error of SQLite that an error has, and that
// error; 0 and nil if it has none.
func sqliteOf(err error) (code int, told error) {
	coded, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	if !ok {
		return 0, nil
	}
	return coded.Code() & 0xff, coded
}

// Busy reports whether an error says that others held the lock of SQLite for longer than a try
// waits. Nothing was changed.
func Busy(err error) bool {
	code, _ := sqliteOf(err)
	return code == sqliteBusy
}

// Cause says what is wrong with the database or the files of the state, and what to do, if an
// error tells; else both are "".
func Cause(err error) (msg, hint string) {
	sqlite, fromSQLite := sqliteOf(err)
	answer, isPostgres := errors.AsType[*pgconn.PgError](err)
	file, isFile := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, errUncertain):
		return errUncertain.Error(), ""
	case errors.Is(err, state.ErrNewer):
		return "the state database was made by a newer toolcrib", newerHint
	case sqlite == sqliteFull || errors.Is(err, syscall.ENOSPC) || isPostgres && answer.Code == "53100":
		return "the disk of the state is full: nothing was changed", "the user must free space"
	case sqlite == sqliteBusy:
		return "the state database is locked by another process", "call again"
	case sqlite == sqliteCorrupt || sqlite == sqliteNotADB:
		return "the state database is damaged", "toolcrib doctor names the file; the user must bring it back from a backup, or move it away to begin anew"
	case lacks(err):
		return "the state database lacks tables that it had", "the user must bring it back from a backup, or move it away to begin anew"
	case sqlite == sqliteReadOnly || sqlite == sqliteCantOpen || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return "the state directory cannot be written", "the user must make it writable, or start the server with another --state-dir"
	case isFile:
		return "the state directory cannot be used: " + file.Op + ": " + file.Err.Error(), elseHint
	case fromSQLite != nil:
		return "the state database failed: " + fromSQLite.Error(), elseHint
	case isPostgres:
		return "the state database refused: " + answer.Message + " (" + answer.Code + ")", elseHint
	}
	return "", ""
}
