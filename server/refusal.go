package server

import (
	"net/http"
	"slices"

	"toolcrib/server/wire"
)

// Refusal is a request over HTTP that became no call since its origin, its host or
// its token may not call, or calls too often.
type Refusal struct {
	Status int    // one of RefusalStatuses
	From   string // address of the connection: that of a proxy, where there is one
	Why    string
}

// RefusalStatuses are what the Status of a Refusal can be.
func RefusalStatuses() []int {
	return []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}
}

// tellRefused tells of a refused request whoever wants to know.
func (s *Server) tellRefused(w http.ResponseWriter, status int, bad *wire.Fault) {
	if s.refused == nil {
		return
	}
	if !slices.Contains(RefusalStatuses(), status) {
		return
	}
	told := Refusal{Status: status, Why: bad.Msg}
	if rw, ok := w.(*responseWriter); ok {
		told.From = rw.from
	}
	s.refused(told)
}
