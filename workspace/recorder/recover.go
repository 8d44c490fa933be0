package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/history"
)

// line is a line of the journal of a change: one of its fields is set, but Time goes with
// Label. Names are packed, see [history.PackName].
type line struct {
	Label   *Label       `json:"label,omitempty"`
	Time    time.Time    `json:"time,omitzero"`
	Entry   *entryLine   `json:"entry,omitempty"`
	After   *afterLine   `json:"after,omitempty"`
	Move    *moveLine    `json:"move,omitempty"`
	Renamed *renamedLine `json:"renamed,omitempty"`
}

// entryLine is an entry, written before it changes.
type entryLine struct {
	Host   string           `json:"host"`
	Before *history.Version `json:"before,omitempty"`
	File   string           `json:"file,omitempty"`
	Came   bool             `json:"came,omitempty"`
}

// afterLine is what an entry was when a part ended.
type afterLine struct {
	Host  string           `json:"host"`
	After *history.Version `json:"after,omitempty"`
}

// moveLine is a directory that is about to be moved.
type moveLine struct {
	From     string           `json:"from"`
	To       string           `json:"to"`
	Inode    uint64           `json:"inode"`
	Mode     fs.FileMode      `json:"mode"`
	Replaced *history.Version `json:"replaced,omitempty"`
}

// renamedLine is a directory that the program itself made, about to be moved.
type renamedLine struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// note writes an entry into the journal.
func (c *change) note(e *entry) {
	before := e.before
	if before != nil {
		packed := *before
		packed.Target = history.PackName(packed.Target)
		before = &packed
	}
	c.journal(e.path, line{Entry: &entryLine{history.PackName(e.host), before, e.file, e.came}})
}

func (m *moved) line() *moveLine {
	return &moveLine{history.PackName(m.from.Anchor().Canonical()), history.PackName(m.to.Anchor().Canonical()), m.inode, m.mode, m.replaced}
}

// journal writes a line for the case that the server is killed.
func (c *change) journal(p workspace.Path, l line) {
	c.mu.Lock()
	s := c.storeOf(p)
	c.mu.Unlock()
	if s == nil {
		return
	}
	if err := s.pending.Note(l); err != nil {
		c.problems.add("the change", "is lost if the server is killed: "+err.Error())
	}
}

// Recover writes the changes into the history that programs made before their server was
// killed. It returns how many there were.
func Recover(ctx context.Context, ws *workspace.Workspace) (recovered int, err error) {
	var errs []error
	for _, name := range ws.Roots() {
		root, err := ws.Resolve(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if a := root.Anchor(); !a.Store().HasHistory(a.Given()) {
			continue
		}
		h, err := historyOf(root)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		orphans, err := h.Orphans()
		errs = append(errs, err)
		for _, o := range orphans {
			n, err := recoverOne(ctx, ws, h, o)
			recovered += n
			errs = append(errs, err)
		}
	}
	return recovered, errors.Join(errs...)
}

func recoverOne(ctx context.Context, ws *workspace.Workspace, h *history.History, o *history.Orphan) (n int, err error) {
	c := newChange(&Recorder{ws: ws}, Label{})
	folder, err := folderOf(o.Folder())
	if err != nil {
		return 0, errors.Join(err, o.Release())
	}
	defer folder.Close()
	s := &store{h: h, pending: o.Pending, folder: folder}
	c.stores[h] = s
	for _, text := range o.Lines {
		var l line
		if json.Unmarshal(text, &l) == nil {
			c.replay(l, s)
		}
	}
	c.verifyMove()
	last := c.open()
	last.closed, last.time = c.states(last), time.Now()
	named, err := c.append(ctx, h, s)
	if err != nil {
		return 0, errors.Join(err, o.Release())
	}
	return 1, o.End(!named)
}

// replay does what the line of a journal says was done.
func (c *change) replay(l line, in *store) {
	ws := c.recorder.ws
	switch {
	case l.Label != nil:
		c.label = *l.Label
	case l.Entry != nil:
		host := history.UnpackName(l.Entry.Host)
		p, ok := ws.Located(host)
		if !ok {
			return
		}
		s := c.open()
		e := s.entries[host]
		if e == nil {
			e = s.add(host, p)
			close(e.taken)
			if e.before = l.Entry.Before; e.before != nil {
				e.before.Target = history.UnpackName(e.before.Target)
			}
			e.file, e.in = l.Entry.File, in
		}
		e.came = e.came || l.Entry.Came
	case l.After != nil:
		s := c.open()
		if e := s.entries[history.UnpackName(l.After.Host)]; e != nil {
			s.closed = append(s.closed, state{e, l.After.After})
		}
	case l.Renamed != nil:
		c.open().rename(ws, history.UnpackName(l.Renamed.From), history.UnpackName(l.Renamed.To))
	case l.Move != nil:
		c.verifyMove()
		from, ok := ws.Located(history.UnpackName(l.Move.From))
		to, ok2 := ws.Located(history.UnpackName(l.Move.To))
		if ok && ok2 {
			m := &moved{from: from, to: to, inode: l.Move.Inode, mode: l.Move.Mode, replaced: l.Move.Replaced}
			c.parts = append(c.parts, &part{id: history.NewID(), time: time.Now(), moved: m})
		}
	}
}
