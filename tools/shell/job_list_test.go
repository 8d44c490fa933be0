package shell_test

import (
	"fmt"
	"os/exec"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
)

func TestJobList(t *testing.T) {
	s, ctx := start(t), t.Context()
	job := s.begin("echo one; sleep 60", plain)
	s.want(s.call(ctx, "job_list", nil), `^1 job\n`+job+` running for .*; 1 line, 4 B; echo one`)
	j, err := s.jobs.Get(tools.Local, job)
	if err != nil {
		t.Fatal(err)
	}
	j.Stop(jobs.ByStop, 0)
	<-j.Done()
	s.want(s.call(ctx, "job_list", nil), `^no job is running; 1 ended`)
}

// The list has the ports of jobs.
func TestJobListPorts(t *testing.T) {
	s := start(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	port := unused(t)
	s.begin(fmt.Sprintf(serving, port, "4"), jobs.Spec{Ports: []int{port}})
	s.want(s.call(t.Context(), "job_list", nil), fmt.Sprintf(`; 127.0.0.1:%[1]d = port %[1]d; exec`, port))
}
