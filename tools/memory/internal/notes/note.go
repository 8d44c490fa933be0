// Package notes keeps memories: as Markdown files in the state directory, which people may
// read and edit, or as rows of the database.
//
// It knows the form of a note and where notes are kept, and nothing of the tools. It imports
// the contract for its errors, the database and the state. Start at [Store], then files.go
// and rows.go, which implement it.
package notes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"toolcrib/tools"
)

// Note is one version of a memory. It is never changed.
type Note struct {
	ID         string    `yaml:"id"`
	Topic      string    `yaml:"topic"`
	Tags       []string  `yaml:"tags,omitempty,flow"`
	Version    int64     `yaml:"version"`
	Created    time.Time `yaml:"created"`
	Updated    time.Time `yaml:"updated"`
	Expires    time.Time `yaml:"expires,omitempty"` // zero: never
	Author     string    `yaml:"author,omitempty"`  // the client that wrote it, or [Person]
	Supersedes []string  `yaml:"supersedes,omitempty,flow"`
	// Digest is that of what people may edit, as the program wrote it.
	Digest  string `yaml:"digest,omitempty"`
	Content string `yaml:"-"`
	// Flaw says why the front matter was not read; "" = it was.
	Flaw string `yaml:"-"`
}

// Person is the author of what was edited by hand.
const Person = "edited by hand"

// Retention is how long old versions and deleted notes are kept.
const Retention = 30 * 24 * time.Hour

// Set is all notes of an owner at a moment, by their IDs. It is never changed: as long as
// nothing is written a store returns the same one.
type Set struct{ Notes []*Note }

// Find returns the note with an ID, nil if there is none.
func (s *Set) Find(id string) *Note {
	i, ok := slices.BinarySearchFunc(s.Notes, id, func(n *Note, id string) int { return strings.Compare(n.ID, id) })
	if !ok {
		return nil
	}
	return s.Notes[i]
}

func newSet(notes []*Note) *Set {
	slices.SortFunc(notes, func(a, b *Note) int { return strings.Compare(a.ID, b.ID) })
	return &Set{notes}
}

// Batch is what is to be changed.
type Batch struct {
	Write  []*Note
	Remove []string // IDs
}

// Store keeps the notes of one owner. Several processes use it at a time.
type Store interface {
	// Notes returns the notes as they are now.
	Notes(ctx context.Context) (*Set, error)
	// Change calls f with the notes, which nobody else changes meanwhile, and then makes the
	// changes of its Batch: all notes written are there when it returns. It may call f
	// again if it failed.
	Change(ctx context.Context, f func(*Set) (Batch, error)) error
	// Versions returns the versions of a note that are kept, the oldest first, also of one
	// that was removed.
	Versions(ctx context.Context, id string) ([]*Note, error)
	// Removed returns the last versions of the notes that were removed.
	Removed(ctx context.Context) ([]*Note, error)
}

// Format returns a note as a file. digest is set anew.
func Format(n *Note) ([]byte, error) {
	sealed := *n
	sealed.Digest = n.digest()
	head, err := yaml.Marshal(&sealed)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "---\n%s---\n\n%s\n", head, n.Content), nil
}

// Parse reads a note from a file. What has no front matter, or a wrong one, is all content.
func Parse(data []byte) *Note {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\ufffd"), "\r\n", "\n")
	plain := &Note{Content: strings.TrimRight(text, "\n")}
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return plain
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		plain.Flaw = "its front matter has no end"
		return plain
	}
	n := new(Note)
	if err := yaml.Unmarshal([]byte(head), n); err != nil {
		plain.Flaw = "its front matter cannot be read: " + tools.Visible(strings.ReplaceAll(err.Error(), "\n", " "))
		return plain
	}
	n.Content = strings.TrimSuffix(strings.TrimPrefix(body, "\n"), "\n")
	return n
}

// digest tells what people may edit from what the program wrote.
func (n *Note) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %q", n.Topic, n.Tags, n.Supersedes, n.Expires.Unix(), n.Content)
	const shown = 12
	return hex.EncodeToString(h.Sum(nil))[:shown]
}

// Edited reports whether a person has changed the note since the program wrote it.
func (n *Note) Edited() bool { return n.Digest != n.digest() }
