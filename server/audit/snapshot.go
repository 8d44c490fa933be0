package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"toolcrib/workspace/state"
)

// Known reports whether the state knows a log in dir.
func Known(dir string, st *state.Dir) (bool, error) {
	dir, err := canonicalDir(dir)
	if err != nil {
		return false, err
	}
	folder, err := st.Folder(headsFolder)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	info, err := folder.Stat(logName(dir) + ".head")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// Remains reports whether files of a log lie in dir and the state has a key of logs,
// whether or not it knows this one.
func Remains(dir string, st *state.Dir) (bool, error) {
	if !st.HasKey("audit") {
		return false, nil
	}
	dir, err := canonicalDir(dir)
	if err != nil {
		return false, err
	}
	files, err := listFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(files) > 0, err
}

// snapshot is a log as it was at one moment.
type snapshot struct {
	chain chain
	head  head
	lost  bool  // there are files without a head: it has zero positions
	gone  *note // there are neither, but there were
	files []snapshotFile
}

type snapshotFile struct {
	number int
	f      *os.File
	size   int64
}

func takeSnapshot(ctx context.Context, dir string, st *state.Dir) (s *snapshot, err error) {
	dir, err = canonicalDir(dir)
	if err != nil {
		return nil, err
	}
	if known, err := Known(dir, st); err != nil {
		return nil, err
	} else if !known {
		if remains, err := Remains(dir, st); err != nil {
			return nil, err
		} else if !remains {
			return removed(dir, st)
		}
	}
	folder, err := st.Folder(headsFolder)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	key, err := st.Key(ctx, "audit")
	if err != nil {
		return nil, err
	}
	turn, err := st.Lock(ctx, lockName(dir))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, turn.Unlock()) }()
	s = new(snapshot)
	if s.chain, err = newChain(key); err != nil {
		return nil, err
	}
	if s.head, err = readHead(folder, dir, key); errors.Is(err, errNoHead) {
		s.lost = true
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	numbers, err := listFiles(dir)
	if err != nil {
		return nil, err
	}
	if s.lost && len(numbers) > 0 {
		s.head.Oldest = numbers[0]
	}
	for _, n := range numbers {
		if n < s.head.Oldest {
			continue // its removal was on record before it began
		}
		f, err := os.Open(pathOf(dir, n))
		if err != nil {
			s.close()
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			s.close()
			return nil, errors.Join(err, f.Close())
		}
		s.files = append(s.files, snapshotFile{n, f, info.Size()})
	}
	return s, nil
}

// removed is the snapshot of a log that is gone with its head; [ErrNoLog] where there
// never was one.
func removed(dir string, st *state.Dir) (*snapshot, error) {
	n, err := readNote(dir, st)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, fmt.Errorf("%s: %w", dir, ErrNoLog)
	}
	return &snapshot{gone: n}, nil
}

// readHead reads the head of the log in dir; errNoHead if there is none.
func readHead(folder *os.Root, dir string, key []byte) (head, error) {
	heads, err := openHead(folder, dir, key, false)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, errNoHead
	}
	if err != nil {
		return head{}, err
	}
	defer heads.f.Close()
	return heads.read()
}

func (s *snapshot) close() {
	for _, f := range s.files {
		_ = f.f.Close() // it was only read
	}
}
