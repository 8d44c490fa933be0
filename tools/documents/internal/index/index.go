// Package index keeps the passages of documents in the state of a root, and finds them by
// their words.
//
// It is the only package that knows the tables. A content is kept once, whatever the number
// of files that have it. What a call may see is for its caller to decide: the index has the
// files of all calls. Several servers share it. It imports the workspace, for its state, and
// the passages. Start at [Open], then [Index.Put] and [Index.Search].
package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/lexical"
	"toolcrib/workspace"
)

// edition changes with what the program makes of a content, such as with a reader of another
// format, so that all files are read anew. That of a file with unread pages is negative.
const edition = 7

// The number of a passage begins with that of its content.
const (
	contentShift = 20
	mostPassages = 1 << contentShift // of one content
)

var migrations = []string{`
CREATE TABLE contents (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	key      BLOB NOT NULL UNIQUE,
	flaw     TEXT NOT NULL,
	passages INTEGER NOT NULL,
	tokens   INTEGER NOT NULL,
	segment  INTEGER NOT NULL
);
CREATE INDEX contents_segment ON contents(segment);
CREATE TABLE files (
	path     TEXT PRIMARY KEY,
	size     INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	edition  INTEGER NOT NULL,
	content  INTEGER NOT NULL REFERENCES contents(id)
) WITHOUT ROWID;
CREATE INDEX files_content ON files(content);
CREATE TABLE passages (
	id       INTEGER PRIMARY KEY,
	place    TEXT NOT NULL,
	headings TEXT NOT NULL,
	text     TEXT NOT NULL,
	tokens   INTEGER NOT NULL
);
CREATE TABLE vectors (
	passage INTEGER PRIMARY KEY,
	data    BLOB NOT NULL
);
CREATE TABLE segments (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	passages INTEGER NOT NULL,
	gone     INTEGER NOT NULL,
	words    INTEGER NOT NULL,
	members  BLOB NOT NULL
);
CREATE TABLE blocks (
	id      INTEGER PRIMARY KEY,
	segment INTEGER NOT NULL,
	first   TEXT NOT NULL,
	data    BLOB NOT NULL
);
CREATE UNIQUE INDEX blocks_first ON blocks(segment, first);
`, `
DROP TABLE vectors;
CREATE TABLE models (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	name       TEXT NOT NULL UNIQUE,
	dimensions INTEGER NOT NULL,
	used       INTEGER NOT NULL
);
CREATE TABLE vectors (
	model   INTEGER NOT NULL,
	passage INTEGER NOT NULL,
	same    BLOB NOT NULL,
	data    BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_passage ON vectors(model, passage);
CREATE INDEX vectors_same ON vectors(model, same);
`}

// Index is the index of a root.
type Index struct {
	db    *sql.DB
	cache *Cache
}

// Open opens the index of a workspace, in the state of its first root.
func Open(ctx context.Context, ws *workspace.Workspace, cache *Cache) (*Index, error) {
	dir, err := ws.State()
	if err != nil {
		return nil, err
	}
	db, err := dir.DB(ctx, "documents", migrations...)
	if err != nil {
		return nil, err
	}
	return &Index{db, cache}, nil
}

// ID is the number of a content.
type ID int64

// File is what the index knows of a file.
type File struct {
	Size, Modified int64 // when it was read; Modified = 0: it must be read again
	Content        ID
	Flaw           string // why it, or a part of it, was not read; "" = it was
	Passages       int
	Tokens         int  // of its passages
	Unread         bool // some of its pages are only images, which OCR may still read
}

// Files returns the files of paths, or all, by their paths. It returns all as well if a path
// is not UTF-8.
func (x *Index) Files(ctx context.Context, paths ...string) (map[string]File, error) {
	query, args := `SELECT path, size, iif(abs(edition) = ?, modified, 0), content, flaw, passages, tokens, edition < 0
		FROM files JOIN contents ON contents.id = files.content`, []any{edition}
	if paths != nil && !slices.ContainsFunc(paths, func(path string) bool { return !utf8.ValidString(path) }) {
		asked, err := json.Marshal(paths)
		if err != nil {
			return nil, err
		}
		query, args = query+" WHERE path IN (SELECT value FROM json_each(?))", append(args, string(asked))
	}
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]File{}
	for rows.Next() {
		var path string
		var f File
		if err := rows.Scan(&path, &f.Size, &f.Modified, &f.Content, &f.Flaw, &f.Passages, &f.Tokens, &f.Unread); err != nil {
			return nil, err
		}
		all[path] = f
	}
	return all, rows.Err()
}

// Reading is a file as it was read.
type Reading struct {
	Path           string
	Size, Modified int64
	Key            []byte // of its content, see [Key]
	Parsed         bool   // Flaw and Passages are set; false if the index had the content
	Flaw           string
	Passages       []passage.Passage
	Words          [][]lexical.Count // of each passage, see [Words]
	Unread         bool              // see [File]
}

// Words returns what a passage is found by.
func Words(t *lexical.Tokenizer, p *passage.Passage) []lexical.Count {
	return t.Count(p.Headings, p.Text)
}

// Key returns the key of a content by its hash. kind is the extension of a file that has it:
// the same bytes may be read in another way under another one.
func Key(hash []byte, kind string) []byte { return fmt.Appendf(hash, "%d %s", edition, kind) }

// Has reports whether the index has a content.
func (x *Index) Has(ctx context.Context, key []byte) (bool, error) {
	var n int
	err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM contents WHERE key = ?", key).Scan(&n)
	return n > 0, err
}

// Put adds what was read, in one transaction, and removes what no file has any more. A
// content that another server has added meanwhile stays as it is.
func (x *Index) Put(ctx context.Context, readings []Reading) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		w, err := prepare(ctx, tx)
		if err != nil {
			return err
		}
		defer w.close()
		for i := range readings {
			if err := w.put(ctx, &readings[i]); err != nil {
				return err
			}
		}
		return w.finish(ctx)
	})
}

// Forget removes files.
func (x *Index) Forget(ctx context.Context, paths []string) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		w, err := prepare(ctx, tx)
		if err != nil {
			return err
		}
		defer w.close()
		for _, path := range paths {
			if err := w.forget(ctx, path); err != nil {
				return err
			}
		}
		return w.finish(ctx)
	})
}

func (x *Index) change(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left to undo
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// writer has the statements of one transaction.
type writer struct {
	tx                             *sql.Tx
	find, content, file, old, text *sql.Stmt
	left                           map[ID]bool // contents that a file had
	new                            fresh
}

func prepare(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{tx: tx, left: map[ID]bool{}, new: fresh{lists: map[string]*list{}}}
	for _, s := range []struct {
		at  **sql.Stmt
		sql string
	}{
		{&w.find, "SELECT id FROM contents WHERE key = ?"},
		{&w.content, "INSERT INTO contents (key, flaw, passages, tokens, segment) VALUES (?, ?, ?, ?, 0)"},
		{&w.file, "INSERT INTO files (path, size, modified, edition, content) VALUES (?, ?, ?, ?, ?)"},
		{&w.old, "SELECT content FROM files WHERE path = ?"},
		{&w.text, "INSERT INTO passages (id, place, headings, text, tokens) VALUES (?, ?, ?, ?, ?)"},
	} {
		var err error
		if *s.at, err = tx.PrepareContext(ctx, s.sql); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func (w *writer) close() {
	for _, s := range []*sql.Stmt{w.find, w.content, w.file, w.old, w.text} {
		if s != nil {
			_ = s.Close() // of a transaction that ends
		}
	}
}

func (w *writer) put(ctx context.Context, r *Reading) error {
	var id ID
	switch err := w.find.QueryRowContext(ctx, r.Key).Scan(&id); {
	case errors.Is(err, sql.ErrNoRows) && !r.Parsed:
		return nil // another server has removed it meanwhile: the next call reads the file
	case errors.Is(err, sql.ErrNoRows):
		if id, err = w.add(ctx, r); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if err := w.forget(ctx, r.Path); err != nil { // for OR REPLACE, SQLite keeps a journal of each statement
		return err
	}
	as := edition
	if r.Unread {
		as = -edition
	}
	_, err := w.file.ExecContext(ctx, r.Path, r.Size, r.Modified, as, id)
	return err
}

// add adds a content.
func (w *writer) add(ctx context.Context, r *Reading) (ID, error) {
	all := r.Passages[:min(len(r.Passages), mostPassages)]
	total := 0
	for i := range all {
		total += all[i].Tokens
	}
	result, err := w.content.ExecContext(ctx, r.Key, r.Flaw, len(all), total)
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return 0, err
	}
	for i := range all {
		p, at := &all[i], id<<contentShift+int64(i)
		if _, err := w.text.ExecContext(ctx, at, p.Place, p.Headings, p.Text, p.Tokens); err != nil {
			return 0, err
		}
		w.new.put(at, r.Words[i])
	}
	return ID(id), nil
}

// forget removes a file, and notes the content that it has had.
func (w *writer) forget(ctx context.Context, path string) error {
	var id ID
	switch err := w.old.QueryRowContext(ctx, path).Scan(&id); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	w.left[id] = true
	_, err := w.tx.ExecContext(ctx, "DELETE FROM files WHERE path = ?", path)
	return err
}

// finish removes the contents that no file has any more, and writes the segment of those
// that are new.
func (w *writer) finish(ctx context.Context) error {
	if err := w.write(ctx); err != nil {
		return err
	}
	for id := range w.left {
		var n int
		if err := w.tx.QueryRowContext(ctx, "SELECT count(*) FROM files WHERE content = ?", id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		for _, s := range []string{
			"UPDATE segments SET gone = gone + (SELECT passages FROM contents WHERE id = ?1) WHERE id = (SELECT segment FROM contents WHERE id = ?1)",
			"DELETE FROM passages WHERE id BETWEEN ?1 << 20 AND ((?1 + 1) << 20) - 1",
			"DELETE FROM contents WHERE id = ?1",
		} {
			if _, err := w.tx.ExecContext(ctx, s, id); err != nil {
				return err
			}
		}
	}
	return w.tidy(ctx)
}
