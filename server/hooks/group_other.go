//go:build !unix

package hooks

import "os/exec"

// ownGroup does nothing: this system has no process groups to kill.
func ownGroup(*exec.Cmd) {}

// killGroup ends the command. Its children end by themselves.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
