package shell_test

import "testing"

func TestJobStop(t *testing.T) {
	s := start(t)
	job := s.begin("echo one; sleep 60", plain)
	s.want(s.call(t.Context(), "job_stop", nil), `^ended by .* \(stopped\); job `+job)
}
