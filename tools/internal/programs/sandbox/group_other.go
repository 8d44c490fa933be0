//go:build !linux && !windows

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// tree is a program and the processes that it starts, as long as these stay in its process
// group: others are not found.
type tree struct{ group int }

func startTree(cmd *exec.Cmd, _ Limits) (*tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &tree{cmd.Process.Pid}, nil
}

func (t *tree) signal(s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok {
		return errors.New("it is not a signal of this system")
	}
	return syscall.Kill(-t.group, number)
}

func (t *tree) kill() { _ = syscall.Kill(-t.group, syscall.SIGKILL) }

func (t *tree) release() {}
