package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// best is the level of Windows: programs end with their job object, and are not contained
// otherwise.
const best = None

const lacks = "toolcrib cannot contain programs on Windows"

// platform is the part of an engine that depends on the system.
type platform struct{}

func (*platform) prepare(_ context.Context, _ Options, c Command) (*exec.Cmd, Report, error) {
	return uncontained(c), Report{Level: None, Network: "on"}, nil
}

func (*platform) release() error { return nil }

// tree is a program and the processes that it starts: a job object, which ends when its
// last handle is closed, also by the end of the server.
type tree struct {
	cmd *exec.Cmd
	job windows.Handle
}

// startTree starts a program suspended, so that it is in the job before it starts another.
func startTree(cmd *exec.Cmd, l Limits) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	t := &tree{cmd, job}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if l.Memory > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		info.ProcessMemoryLimit = uintptr(l.Memory)
	}
	if l.Processes > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		info.BasicLimitInformation.ActiveProcessLimit = uint32(l.Processes)
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		t.release()
		return nil, os.NewSyscallError("SetInformationJobObject", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		t.release()
		return nil, err
	}
	var refused error
	err = cmd.Process.WithHandle(func(handle uintptr) {
		refused = errors.Join(
			os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(job, windows.Handle(handle))),
			wake(handle),
		)
	})
	if err = errors.Join(err, refused); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.release()
		return nil, err
	}
	return t, nil
}

// wake resumes a program that was started suspended.
func wake(handle uintptr) error {
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if err := resume.Find(); err != nil {
		return err
	}
	if status, _, _ := resume.Call(handle); status != 0 {
		return os.NewSyscallError("NtResumeProcess", windows.NTStatus(status))
	}
	return nil
}

func (t *tree) signal(s os.Signal) error { return t.cmd.Process.Signal(s) }

func (t *tree) kill() { _ = windows.TerminateJobObject(t.job, 1) }

func (t *tree) release() { _ = windows.CloseHandle(t.job) }
