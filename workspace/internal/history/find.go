package history

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// find yields the lines of the log, the newest first, that may be of the change id, ""
// being any, and may concern one of the names, which are absolute; nil being any.
func (h *History) find(ctx context.Context, id string, names []string) iter.Seq2[logLine, error] {
	start := []byte(anyRecord)
	if id != "" {
		start = recordStart(id)
	}
	needles := h.needles(names)
	return func(yield func(logLine, error) bool) {
		for line, err := range h.Lines() {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && (!bytes.HasPrefix(line.Text, start) || !containsAny(line.Text, needles)) {
				continue
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// decode decodes a line.
func (h *History) decode(line logLine) (Record, error) {
	rec, err := DecodeRecord(line.Text)
	rec.root = h.Root
	return rec, err
}

// needles returns texts of which the line of every record about one of the names has
// one; nil says that any line may be of such a record.
func (h *History) needles(names []string) [][]byte {
	var list [][]byte
	for _, name := range names {
		if rel, ok := fsys.Below(h.Root, name); ok {
			name = rel
		}
		if _, ok := fsys.Below(name, h.Root); ok || name == "." {
			return nil
		}
		text, err := json.Marshal(PackName(name))
		if err != nil || strings.HasPrefix(PackName(name), packed) {
			return nil
		}
		list = append(list, text[1:len(text)-1])
	}
	return list
}

func containsAny(text []byte, needles [][]byte) bool {
	return needles == nil || slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) })
}

// concerns reports whether a record is about one of the names or a path below
// one; with none, whether it is about anything.
func (rec Record) concerns(names []string) bool {
	if names == nil {
		return len(rec.Files) > 0
	}
	return slices.ContainsFunc(rec.Files, func(c Changed) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, ok := fsys.Below(name, absolutePath(rec.root, c.Path))
			if !ok && c.From != "" {
				_, ok = fsys.Below(name, absolutePath(rec.root, c.From))
			}
			return ok
		})
	})
}

// absolutePath is the host path of a path of a record, slash-separated; "" if that is "".
func absolutePath(root, name string) string {
	if name == "" || filepath.IsAbs(filepath.FromSlash(name)) {
		return name
	}
	return path.Join(root, name)
}

// newestFirst merges lists that are each in order. A change of several roots is in
// the list of each, and once in the result.
func newestFirst(lists [][]Record) []Record {
	var merged []Record
	seen := map[string]bool{}
	for {
		newest := -1
		for i, l := range lists {
			if len(l) > 0 && (newest < 0 || l[0].Time.After(lists[newest][0].Time)) {
				newest = i
			}
		}
		if newest < 0 {
			return merged
		}
		if rec := lists[newest][0]; !seen[rec.ID] {
			seen[rec.ID] = true
			merged = append(merged, rec)
		}
		lists[newest] = lists[newest][1:]
	}
}
