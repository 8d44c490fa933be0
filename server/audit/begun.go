package audit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"toolcrib/workspace/state"
)

// note records in the state that a log was begun. It is kept with the key, apart from the
// head: if the log's files and head are missing but the note exists, they were removed.
type note struct {
	Dir   string    `json:"dir"`
	Begun time.Time `json:"begun"`
}

const notesFolder = "audit_begun"

// readNote returns the note of the log in dir, which is canonical; nil if there is
// none.
func readNote(dir string, st *state.Dir) (*note, error) {
	folder, err := st.Folder(notesFolder)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	data, err := folder.ReadFile(logName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	n := &note{Dir: dir}
	if err == nil && json.Unmarshal(data, n) != nil {
		n.Begun = time.Time{} // torn: that there is one tells enough
	}
	return n, err
}

// takeNote has the state note that there is a log in dir, unless it does already.
func takeNote(dir string, st *state.Dir) error {
	if n, err := readNote(dir, st); n != nil || err != nil {
		return err
	}
	data, err := json.Marshal(note{dir, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	folder, err := st.Folder(notesFolder)
	if err != nil {
		return err
	}
	return errors.Join(folder.WriteFile(logName(dir), append(data, '\n'), 0o600), folder.Close())
}

// gone returns the text which says that the log is gone.
func (n *note) gone() string {
	since := ""
	if !n.Begun.IsZero() {
		since = " at " + n.Begun.Format("2006-01-02 15:04:05Z")
	}
	return "the log that was begun here" + since + " was removed, and its head in the state directory too"
}

// Begun reports whether the state has a note that a log was begun in dir, even if the log
// no longer exists.
func Begun(dir string, st *state.Dir) (bool, error) {
	dir, err := canonicalDir(dir)
	if err != nil {
		return false, err
	}
	n, err := readNote(dir, st)
	return n != nil, err
}
