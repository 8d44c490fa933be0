package documents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/chars"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
)

// A call reads files for as long as patience says, and then answers from what it has read. Tests
// have less.
var patience = 15 * time.Second

// longest is how long one file may take.
const longest = 20 * time.Second

// The index gets what was read in steps of so many files or bytes.
const (
	stepFiles = 500
	stepBytes = 8 << 20
)

// settled reports whether a change is so old that a later one would have another time: a
// clock of the system's ticks ago, or two seconds where times have no finer parts.
func settled(changed time.Time) bool {
	const tick, coarse = 50 * time.Millisecond, 2 * time.Second
	if changed.Nanosecond()%int(time.Millisecond) == 0 {
		return time.Since(changed) > coarse
	}
	return time.Since(changed) > tick
}

// contents are the contents of a collection, as far as the index has them.
type contents struct {
	documents        int     // of the collection
	files            []found // in the order of the collection; of those with one content, the first
	by               map[index.ID][]string
	missing          int  // files that were not read yet
	passages, tokens int  // of all files
	unsettled        bool // a file may have changed and look the same
}

func (c *contents) count() string { return textfile.Count(c.documents, "document") }

// found is a file that the index has.
type found struct {
	name string
	index.File
}

// update brings the index up to date with a collection.
func (d *deps) update(ctx context.Context, x *index.Index, c *collection) (*contents, error) {
	known, err := x.Files(ctx)
	if err != nil {
		return nil, err
	}
	unreadable := map[string]bool{} // now
	var stale []member
	for _, m := range c.files {
		info, err := m.Stat()
		if errors.Is(err, fs.ErrNotExist) {
			unreadable[m.name] = true
			continue
		}
		if f, ok := known[m.name]; err != nil || !ok || f.Modified == 0 || f.Size != info.Size || f.Modified != info.ModTime.UnixNano() {
			stale = append(stale, m)
		}
	}
	if c.whole {
		var gone []string
		for name := range known {
			if c.known[name] {
				continue
			}
			p, err := tools.Resolve(ctx, name) // fails for files of roots that this call does not see
			if err == nil {
				_, err = p.Lstat()
			}
			if errors.Is(err, fs.ErrNotExist) {
				gone = append(gone, name)
			}
		}
		if len(gone) > 0 {
			if err := x.Forget(ctx, gone); err != nil {
				return nil, err
			}
		}
	}
	w := &reading{deps: d, x: x, c: c, known: known, total: len(stale), unreadable: unreadable, until: time.Now().Add(patience)}
	missing := 0
	if len(stale) > 0 {
		if missing, err = w.run(ctx, stale); err != nil {
			return nil, err
		}
		if err := w.learn(ctx, stale); err != nil {
			return nil, err
		}
	}
	left, err := w.recognize(ctx)
	if err != nil {
		return nil, err
	}
	return contentsOf(c, known, unreadable, missing, left), nil
}

func contentsOf(c *collection, known map[string]index.File, unreadable map[string]bool, missing int, left bool) *contents {
	all := &contents{documents: len(c.files), by: map[index.ID][]string{}, missing: missing, unsettled: left}
	for _, m := range c.files {
		f, ok := known[m.name]
		all.unsettled = all.unsettled || !ok || f.Modified == 0 || unreadable[m.name]
		if ok && !unreadable[m.name] {
			all.add(c, m.name, f)
		}
	}
	return all
}

// add adds a document that the index has.
func (all *contents) add(c *collection, name string, f index.File) {
	switch {
	case f.Unread && f.Passages == 0:
		return // which is told of all that have unread pages
	case f.Flaw != "":
		c.notRead(name, f.Flaw)
	case f.Passages == 0:
		c.notRead(name, "no text")
	}
	if f.Passages == 0 {
		return
	}
	if all.by[f.Content] == nil {
		all.passages += f.Passages
		all.tokens += f.Tokens
		all.files = append(all.files, found{name, f})
	}
	all.by[f.Content] = append(all.by[f.Content], name)
}

// clone returns contents that can be added to. Those of a watch serve other calls too.
func (all *contents) clone() *contents {
	own := *all
	own.files, own.by = slices.Clone(all.files), map[index.ID][]string{}
	for id, names := range all.by {
		own.by[id] = slices.Clone(names)
	}
	return &own
}

// reading is the reading of the files that changed.
type reading struct {
	*deps
	x     *index.Index
	c     *collection
	known map[string]index.File
	total int
	until time.Time
	ocr   document.Recognizer // nil = images of pages are left out
	first bool                // the file that is read has had most of the time, so that it cannot go on if it did not now

	writing    sync.Mutex // held while the index gets a step
	tokenizers sync.Pool  // what each goroutine has learnt of words

	mu         sync.Mutex
	step       []index.Reading
	bytes      int
	done       int
	unreadable map[string]bool
}

// run reads files for a while. missing is the number of those that are left.
func (r *reading) run(ctx context.Context, stale []member) (missing int, err error) {
	report := tools.Progress(ctx)
	g, inner := tools.NewGroup(ctx, min(runtime.GOMAXPROCS(0), 4))
	for i, m := range stale {
		if inner.Err() != nil {
			break
		}
		if time.Now().After(r.until) {
			missing = len(stale) - i
			r.leave(stale[i:])
			break
		}
		g.Go(func() error {
			reading, err := r.read(inner, m)
			if err != nil {
				return err
			}
			full, done := r.add(m, reading)
			if len(full) == 0 {
				return nil
			}
			if err := r.put(inner, full); err != nil {
				return err
			}
			report(tools.ProgressEvent{Done: float64(done), Total: float64(r.total), Message: fmt.Sprintf("%d of %d documents read", done, r.total)})
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.step) > 0 {
		err = r.x.Put(ctx, r.step)
	}
	return missing, err
}

// learn takes what the index has now of files that were read.
func (r *reading) learn(ctx context.Context, files []member) error {
	names := make([]string, len(files))
	for i, m := range files {
		names[i] = m.name
		delete(r.known, m.name)
	}
	now, err := r.x.Files(ctx, names...)
	if err != nil {
		return err
	}
	maps.Copy(r.known, now)
	return nil
}

// recognize reads the images of pages in the time that is left, one file after the other, since
// each has several pages read at a time. left reports whether another call may go on.
func (r *reading) recognize(ctx context.Context) (left bool, err error) {
	var scans []member
	for _, m := range r.c.files {
		if r.known[m.name].Unread && !r.unreadable[m.name] {
			scans = append(scans, m)
		}
	}
	if len(scans) == 0 {
		return false, nil
	}
	why := ""
	if r.ocr, why = r.recognizer(ctx); r.ocr == nil {
		for _, m := range scans {
			r.c.notRead(m.name, "pages that are only images: "+why)
		}
		return false, ctx.Err()
	}
	report := tools.Progress(ctx)
	for i, m := range scans {
		report(tools.ProgressEvent{Done: float64(i), Total: float64(len(scans)), Message: fmt.Sprintf("%d of %d documents with images of pages read by OCR", i, len(scans))})
		r.first = i == 0 && time.Until(r.until) > patience/2
		if time.Now().Before(r.until) {
			one, err := r.read(ctx, m)
			if err != nil {
				return false, err
			}
			if one != nil {
				if err := r.put(ctx, []index.Reading{*one}); err != nil {
					return false, err
				}
			}
		}
	}
	if err := r.learn(ctx, scans); err != nil {
		return false, err
	}
	for _, m := range scans {
		if r.known[m.name].Unread {
			left = true
			r.c.notRead(m.name, "pages that are only images, not read by OCR yet: call again to go on")
		}
	}
	return left, nil
}

// put gives the index a step. Others would only wait for the database.
func (r *reading) put(ctx context.Context, step []index.Reading) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	return r.x.Put(ctx, step)
}

// leave leaves files for the next call. What the index has of them is out of date.
func (r *reading) leave(files []member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range files {
		r.unreadable[m.name] = true
	}
}

// add adds a reading to the step, and returns the step if that is full, and how many files
// were read.
func (r *reading) add(m member, one *index.Reading) (full []index.Reading, done int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if one == nil {
		r.unreadable[m.name] = true
		return nil, r.done
	}
	r.step = append(r.step, *one)
	for i := range one.Passages {
		r.bytes += len(one.Passages[i].Text)
	}
	if len(r.step) < stepFiles && r.bytes < stepBytes {
		return nil, r.done
	}
	full, r.step, r.bytes = r.step, nil, 0
	return full, r.done
}

// read reads a file, and divides it if the index does not have its content. It returns nil
// for a file that cannot be opened or read; the collection names it.
func (r *reading) read(ctx context.Context, m member) (*index.Reading, error) {
	fail := func(err error) (*index.Reading, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, fs.ErrNotExist) || m.named {
			why := unread.Why(err)
			if why == "" {
				why = err.Error()
			}
			r.mu.Lock()
			r.c.notRead(m.name, why)
			r.mu.Unlock()
		}
		return nil, nil
	}
	file, err := m.Open()
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	info := file.Info()
	one := &index.Reading{Path: m.name, Size: info.Size, Modified: info.ModTime.UnixNano()}
	if !settled(info.ModTime) {
		one.Modified = 0
	}
	if err := document.NewBudget(ctx, document.Standard()).CheckFile(info.Size); err != nil {
		one.Parsed, one.Flaw, one.Key = true, err.Error(), fmt.Appendf(nil, "large %d", info.Size)
		return one, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(file, 0, info.Size)); err != nil {
		return fail(err)
	}
	sum, kind := hash.Sum(nil), strings.ToLower(path.Ext(m.name))
	one.Key = index.Key(sum, kind)
	if has, err := r.x.Has(ctx, one.Key); has || err != nil {
		return one, err
	}
	if r.ocr == nil {
		without := index.Key(sum, kind+" without images")
		if has, err := r.x.Has(ctx, without); has || err != nil {
			one.Key, one.Unread = without, true
			return one, err
		}
	}
	one.Parsed = true
	inner, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	budget := document.NewBudget(inner, document.Standard())
	budget.Recognizer, budget.RecognizeBy = r.ocr, r.until
	if one.Passages, err = r.divide(ctx, document.Source{ReaderAt: file, Size: info.Size, Name: m.name}, budget); err != nil {
		e, ok := errors.AsType[*document.Error](err)
		if !ok {
			return fail(err)
		}
		one.Flaw = flawOf(e)
	}
	switch {
	case r.ocr == nil && budget.Unread > 0:
		one.Key, one.Unread = index.Key(sum, kind+" without images"), true
	case budget.Late > 0:
		part := index.Key(sum, fmt.Sprintf("%s without %d images", kind, budget.Late))
		has, err := r.x.Has(ctx, part)
		if err != nil {
			return nil, err
		}
		if !has || !r.first {
			one.Key, one.Unread = part, true
		} else {
			one.Flaw = "pages that are only images, for which OCR takes too long here: parse_document reads a few at a time by pages"
		}
	}
	tokenizer, ok := r.tokenizers.Get().(*lexical.Tokenizer)
	if !ok {
		tokenizer = &lexical.Tokenizer{}
	}
	defer r.tokenizers.Put(tokenizer)
	for i := range one.Passages {
		one.Words = append(one.Words, index.Words(tokenizer, &one.Passages[i]))
	}
	return one, nil
}

// divide reads a document as passages; those of a text have its lines. It gives up one that
// takes too long, so that it does not hold up every call.
func (r *reading) divide(ctx context.Context, src document.Source, budget *document.Budget) ([]passage.Passage, error) {
	if src.Size == 0 {
		return nil, nil
	}
	doc, err := r.readers.Read(src, budget)
	if budget.Err() != nil && ctx.Err() == nil {
		return nil, document.Errorf(document.TooLarge, "reading takes longer than %v", longest)
	}
	if err != nil {
		return nil, err
	}
	if doc.Format != "text" && doc.Format != "markdown" {
		return passage.OfDocument(doc), nil
	}
	data, err := src.Bytes(budget)
	if err != nil {
		return nil, err
	}
	text, _, err := chars.Decode(data, "")
	if err != nil {
		return nil, err
	}
	return passage.OfLines(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), doc.Format == "markdown"), nil
}

// flawOf says in a few words why a file cannot be read.
func flawOf(e *document.Error) string {
	switch e.Cause {
	case document.Encrypted:
		return "encrypted"
	case document.Unsupported:
		return e.Say
	case document.Truncated:
		return "truncated"
	case document.TooLarge:
		return "too large"
	}
	return "malformed"
}
