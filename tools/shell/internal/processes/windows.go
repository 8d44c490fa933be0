//go:build windows

package processes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// List returns the visible processes, with the name of their program as the command: the
// system does not reveal the arguments of other processes.
func List(ctx context.Context) ([]Process, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snapshot)
	var list []Process
	entry := windows.ProcessEntry32{Size: uint32(reflect.TypeFor[windows.ProcessEntry32]().Size())}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := Process{PID: int(entry.ProcessID), Parent: int(entry.ParentProcessID), Command: windows.UTF16ToString(entry.ExeFile[:]), Kernel: entry.ProcessID <= 4}
		if h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, entry.ProcessID); err == nil {
			p.times(h)
			_ = windows.CloseHandle(h)
		}
		list = append(list, p)
	}
	return list, nil
}

// times fills in when the process began and how long it has computed.
func (p *Process) times(h windows.Handle) {
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &began, &ended, &kernel, &user) == nil {
		p.Began = uint64(began.HighDateTime)<<32 | uint64(began.LowDateTime)
		p.Start = time.Unix(0, began.Nanoseconds())
		spent := func(f windows.Filetime) time.Duration {
			return 100 * time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime))
		}
		p.CPU = spent(kernel) + spent(user)
	}
}

// Kill ends the process with an identity and no other; TERM and KILL are the same here. It
// reports whether the process has ended after wait.
func Kill(ctx context.Context, id ID, name string, wait time.Duration) (ended bool, err error) {
	switch strings.TrimPrefix(strings.ToUpper(name), "SIG") {
	case "TERM", "KILL":
	default:
		return false, fmt.Errorf("%w: %s", ErrSignal, name)
	}
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE|windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(id.PID))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return false, ErrGone
	}
	if err != nil {
		return false, err
	}
	defer windows.CloseHandle(h)
	var p Process
	if p.times(h); p.Began != id.Began {
		return false, ErrGone
	}
	if err := windows.TerminateProcess(h, 1); err != nil {
		return false, err
	}
	event, err := windows.WaitForSingleObject(h, uint32(wait.Milliseconds()))
	return event == windows.WAIT_OBJECT_0, errors.Join(err, ctx.Err())
}

// Listening is known on Linux alone.
func Listening(context.Context, int) ([]int, error) { return nil, errors.ErrUnsupported }
