package workspace

import (
	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
)

// What is known of an entry, as fsys has it.
type (
	Info     = fsys.Info
	Kind     = fsys.Kind
	DirEntry = fsys.DirEntry
)

// The kinds of entries.
const (
	KindFile      = fsys.KindFile
	KindDirectory = fsys.KindDirectory
	KindSymlink   = fsys.KindSymlink
	KindOther     = fsys.KindOther
)

// What the history tells, as package history has it.
type (
	Record        = history.Record
	Changed       = history.Changed
	Version       = history.Version
	OpKind        = history.OpKind
	Gap           = history.Gap
	HistoryBounds = history.Bounds
)

// The kinds of operations.
const (
	OpWrite     = history.OpWrite
	OpAppend    = history.OpAppend
	OpDelete    = history.OpDelete
	OpMove      = history.OpMove
	OpCopy      = history.OpCopy
	OpDirectory = history.OpDirectory
	OpSymlink   = history.OpSymlink
)

// Bounds of what is kept of one change, and of one file in bytes.
const (
	MaxKept      = history.MaxKept
	MaxKeptFiles = history.MaxKeptFiles
	MaxKeptBytes = history.MaxKeptBytes
)
