package web

import (
	"slices"
	"sync"
	"time"

	"toolcrib/tools/outbound"
)

// snapshots keeps rendered pages, so that a further part is one of the same page.
type snapshots struct {
	mu   sync.Mutex
	list []snapshot // the newest last
	size int
}

type snapshot struct {
	key  string
	at   time.Time
	read reading
}

// mostSnapshots is how many bytes of rendered pages are kept.
const mostSnapshots = 16 << 20

func (s *snapshots) get(key string) (reading, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(func(old snapshot) bool { return time.Since(old.at) > outbound.SnapshotTime })
	i := slices.IndexFunc(s.list, func(old snapshot) bool { return old.key == key })
	if i < 0 {
		return reading{}, false
	}
	return s.list[i].read, true
}

func (s *snapshots) put(key string, read reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := snapshot{key, time.Now(), read}
	s.drop(func(old snapshot) bool { return old.key == key })
	s.list = append(s.list, next)
	s.size += next.cost()
	for s.size > mostSnapshots && len(s.list) > 0 {
		s.size -= s.list[0].cost()
		s.list = slices.Delete(s.list, 0, 1)
	}
}

func (s *snapshots) drop(which func(snapshot) bool) {
	s.list = slices.DeleteFunc(s.list, func(old snapshot) bool {
		gone := which(old)
		if gone {
			s.size -= old.cost()
		}
		return gone
	})
}

func (s snapshot) cost() int { return len(s.read.rendered.HTML) + len(s.read.page.Body) }
