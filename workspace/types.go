package workspace

import (
	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/journal"
)

type (
	// Info is what is known of a path.
	Info = fsys.Info
	// Kind is what a path is.
	Kind = fsys.Kind
	// DirEntry is one entry of a directory.
	DirEntry = fsys.DirEntry
)

// The kinds of entries.
const (
	KindFile      = fsys.KindFile
	KindDirectory = fsys.KindDirectory
	KindSymlink   = fsys.KindSymlink
	KindOther     = fsys.KindOther
)

type (
	// Record is one change in the history of a root.
	Record = history.Record
	// Recovered counts the changes of killed processes that a start dealt with.
	Recovered = journal.Recovered
	// Changed is what a change did to one path.
	Changed = history.Changed
	// Version is what stood at a path at one time.
	Version = history.Version
	// OpKind is what an operation does.
	OpKind = history.OpKind
	// Gap is a part of the history that is missing.
	Gap = history.Gap
	// HistoryBounds is how much a root keeps.
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
