package server

import (
	"container/list"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"toolcrib/server/outlet"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// DefaultSessionIdle is how long a session lives without a request.
	DefaultSessionIdle = time.Hour
	// maxSessions is the most sessions at once. One more replaces the least recently used
	// idle one, first among those that only opened; it is refused if none is idle.
	maxSessions = 4096
)

// httpSession is a client of a revision that opens with initialize, over HTTP.
type httpSession struct {
	*link
	used    time.Time
	busy    int        // HTTP requests that are being served
	line    *list.List // that has it: of the fresh or of the proven
	element *list.Element
}

// sessions holds the sessions of a listener. A session ends some time after its last
// request. Its id reveals nothing. If there are too many, one that was never used after
// its handshake goes first, so that a flood of handshakes does not end sessions in use.
type sessions struct {
	idle time.Duration

	mu            sync.Mutex
	byID          map[string]*httpSession
	fresh, proven *list.List // of *httpSession; the one unused for longest first
	sweep         *time.Timer
}

func newSessions(idle time.Duration) *sessions {
	return &sessions{idle: idle, byID: map[string]*httpSession{}, fresh: list.New(), proven: list.New()}
}

// open makes a session, busy until it is released; nil if there is no room.
func (ss *sessions) open(ctx context.Context, s *Server, c caller, a *admission) *httpSession {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if len(ss.byID) >= maxSessions && !ss.evict(ss.fresh) && !ss.evict(ss.proven) {
		return nil
	}
	n := &httpSession{link: s.newLink(ctx, rand.Text(), c, a), used: time.Now(), busy: 1, line: ss.fresh}
	n.element = n.line.PushBack(n)
	ss.byID[n.id] = n
	if ss.sweep == nil {
		ss.sweep = time.AfterFunc(ss.idle, ss.expire)
	}
	return n
}

// acquire finds a session of a principal and keeps it busy until it is released.
func (ss *sessions) acquire(id, principal string) *httpSession {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s := ss.byID[id]
	if s == nil || s.principal != principal {
		return nil
	}
	s.busy++
	if s.line == ss.fresh {
		ss.fresh.Remove(s.element)
		s.line = ss.proven
		s.element = s.line.PushBack(s)
	}
	return s
}

func (ss *sessions) release(s *httpSession) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s.busy--
	s.used = time.Now()
	if ss.byID[s.id] == s {
		s.line.MoveToBack(s.element)
	}
}

// remove ends and forgets a session.
func (ss *sessions) remove(s *httpSession) {
	ss.mu.Lock()
	ss.drop(s)
	ss.mu.Unlock()
	s.end()
}

func (ss *sessions) drop(s *httpSession) {
	if ss.byID[s.id] == s {
		delete(ss.byID, s.id)
		s.line.Remove(s.element)
	}
}

// evict makes room for a session by ending another.
func (ss *sessions) evict(line *list.List) bool {
	for e := line.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*httpSession); s.busy == 0 {
			ss.drop(s)
			go s.end()
			return true
		}
	}
	return false
}

// expire ends the sessions whose time is over, and schedules itself again for the others.
func (ss *sessions) expire() {
	ss.mu.Lock()
	next := ss.idle
	var ended []*httpSession
	for _, line := range []*list.List{ss.fresh, ss.proven} {
		for e := line.Front(); e != nil; {
			s := e.Value.(*httpSession)
			e = e.Next()
			if s.busy > 0 {
				continue
			}
			if left := ss.idle - time.Since(s.used); left > 0 {
				next = min(next, left)
				break
			}
			ss.drop(s)
			ended = append(ended, s)
		}
	}
	if len(ss.byID) == 0 {
		ss.byID = map[string]*httpSession{} // a map does not shrink
		ss.sweep = nil
	} else {
		ss.sweep.Reset(next)
	}
	ss.mu.Unlock()
	for _, s := range ended {
		s.end()
	}
}

// end ends all sessions.
func (ss *sessions) end() {
	ss.mu.Lock()
	all := ss.byID
	ss.byID, ss.fresh, ss.proven = map[string]*httpSession{}, list.New(), list.New()
	if ss.sweep != nil {
		ss.sweep.Stop()
		ss.sweep = nil
	}
	ss.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}

// attach makes st the stream of the session, instead of an older one, and returns the
// function that ends it.
func (s *httpSession) attach(st *outlet.Stream) (detach func()) {
	s.mu.Lock()
	old := s.home
	s.home = st
	s.tellNews()
	s.mu.Unlock()
	if old, ok := old.(*outlet.Stream); ok {
		old.End()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.home != st {
			return
		}
		if s.home = nil; s.mute != nil {
			s.mute()
		}
	}
}

// legacyRevision reports whether a header names a revision that opens with initialize, or
// no revision.
func legacyRevision(header string) bool {
	return header == "" || mcp.IsValidProtocolVersion(header) && !mcp.IsModernProtocol(header)
}
