package server

import "net/http"

// Refusal is a request over HTTP that became no call since its origin, its host or
// its token may not call, or calls too often.
type Refusal struct {
	Status int    // 401, 403 or 429
	From   string // address of the connection: that of a proxy, where there is one
	Why    string
}

// tellRefused tells of a refused request whoever wants to know.
func (s *Server) tellRefused(w http.ResponseWriter, status int, bad *fault) {
	if s.refused == nil {
		return
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return
	}
	told := Refusal{Status: status, Why: bad.msg}
	if rw, ok := w.(*responseWriter); ok {
		told.From = rw.from
	}
	s.refused(told)
}
