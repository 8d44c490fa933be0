package server

import (
	"net/http"
	"sync/atomic"
)

// traffic counts what comes over HTTP.
type traffic struct {
	answered [600]atomic.Uint64 // by status
	sessions atomic.Pointer[sessions]
}

// Traffic returns how many sessions over HTTP live, and how many requests were
// answered by each status.
func (s *Server) Traffic() (live int, requests map[int]uint64) {
	if ss := s.traffic.sessions.Load(); ss != nil {
		live = ss.count()
	}
	requests = map[int]uint64{}
	for status := range s.traffic.answered {
		if n := s.traffic.answered[status].Load(); n > 0 {
			requests[status] = n
		}
	}
	return live, requests
}

// count counts a request at its end.
func (t *traffic) count(w *responseWriter) {
	status := w.status
	if status == 0 {
		status = http.StatusOK // what net/http answers where nobody says anything
	}
	if status < len(t.answered) {
		t.answered[status].Add(1)
	}
}

func (ss *sessions) count() int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return len(ss.byID)
}
