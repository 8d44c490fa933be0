package processes

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A group is busy while any of its processes is, whichever leads it.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		command string
		want    bool
	}{
		{"echo; exec sleep 100", false},
		{"sh -c 'while :; do :; done' & echo; wait", true},
	} {
		cmd := exec.Command("sh", "-c", c.command)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		})
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		for late := time.Now().Add(10 * time.Second); Busy(cmd.Process.Pid) != c.want; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%s: it is not told that it is busy: %t", c.command, c.want)
			}
		}
	}
	if Busy(0) || Busy(-1) {
		t.Error("no group is busy")
	}
}
