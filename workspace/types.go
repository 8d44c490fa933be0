package workspace

import (
	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/journal"
)

type (
	// Info describes the file at a path: kind, size, time, mode.
	Info = fsys.Info
	// Kind says whether a path is a file, a directory, a symlink or something else.
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
	// Recovered counts the changes of killed processes that a start finished or undid.
	Recovered = journal.Recovered
	// Changed is the effect of a change on one path.
	Changed = history.Changed
	// Version is the content of a path at one time.
	Version = history.Version
	// OpKind is what an operation does.
	OpKind = history.OpKind
	// Gap is a part of the history that is missing.
	Gap = history.Gap
	// HistoryBounds limits how much a root keeps.
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

// The most that the history keeps of one file and of one change.
const (
	MaxKept      = history.MaxKept
	MaxKeptFiles = history.MaxKeptFiles
	MaxKeptBytes = history.MaxKeptBytes
)
