package processes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of times in /proc: USER_HZ is 100 on all machines that Go runs on.
const tick = 10 * time.Millisecond

// mostCommand is how much of a command line is read.
const mostCommand = 4096

// List returns the visible processes, by PID.
func List(ctx context.Context) ([]Process, error) {
	boot, err := booted()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir("/proc") // by name
	if err != nil {
		return nil, err
	}
	var list []Process
	us := users{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p, ok := read(pid, boot, us); ok { // otherwise it has ended
			list = append(list, p)
		}
	}
	return list, nil
}

// booted returns the time from which the system counts.
func booted() (time.Time, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, err
	}
	for line := range strings.Lines(string(data)) {
		if seconds, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
			return time.Unix(n, 0), err
		}
	}
	return time.Time{}, fmt.Errorf("/proc/stat has no btime")
}

// read reads one process; ok is false if it has ended.
func read(pid int, boot time.Time, us users) (Process, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	data, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Process{}, false
	}
	p, ok := parseStat(data)
	if !ok {
		return Process{}, false
	}
	p.PID, p.Start = pid, boot.Add(time.Duration(p.Began)*tick)
	if info, err := os.Stat(dir); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			p.User = us.name(stat.Uid)
		}
	}
	if p.hasWords() {
		if line := commandLine(dir); line != "" {
			p.Command = line
		}
	}
	return p, true
}

// commandLine returns the words of the command line of a process, "" where it has none. A
// process in execve has none for a moment: commandLine waits for it.
func commandLine(dir string) string {
	const (
		pause = 100 * time.Microsecond
		most  = time.Second
		looks = 20 // it may have become one between the look at its words and that at its state
	)
	line := make([]byte, mostCommand)
	for begin, none := time.Now(), 0; ; time.Sleep(pause) {
		f, err := os.Open(dir + "/cmdline")
		if err != nil {
			return ""
		}
		n, _ := f.Read(line)
		_ = f.Close()
		if words := bytes.TrimRight(line[:n], "\x00"); len(words) > 0 {
			return string(bytes.ReplaceAll(words, []byte{0}, []byte{' '}))
		}
		if none++; loading(dir) {
			none = 0
		}
		if none == looks || time.Since(begin) > most {
			return ""
		}
	}
}

// hasWords reports whether a process of this kind has a command line.
func (p Process) hasWords() bool { return !p.Kernel && p.State != "Z" && p.State != "X" }

// loading reports whether a process has no memory for its arguments yet.
func loading(dir string) bool {
	data, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	p, ok := parseStat(data)
	const argStart = 48 // of the fields that proc(5) counts
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	return ok && p.hasWords() && len(fields) > argStart-3 && string(fields[argStart-3]) == "0"
}

// parseStat reads a stat file. The name in it may hold anything, also parentheses.
func parseStat(data []byte) (p Process, ok bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	fields := strings.Fields(string(data[end+1:])) // from the third on
	if len(fields) < 22 {
		return Process{}, false
	}
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(fields[i-3], 10, 64)
		ok = ok && err == nil
		return n
	}
	ok = true
	const kernelThread = 0x00200000 // PF_KTHREAD
	p = Process{
		State: fields[0], Parent: int(number(4)), Kernel: number(9)&kernelThread != 0,
		CPU:   time.Duration(number(14)+number(15)) * tick,
		Began: number(22), Memory: int64(number(24)) * int64(os.Getpagesize()),
		Command: "[" + string(data[open+1:end]) + "]",
	}
	return p, ok
}

// users are the names of users by their number.
type users map[uint32]string

func (us users) name(uid uint32) string {
	name, ok := us[uid]
	if !ok {
		name = strconv.FormatUint(uint64(uid), 10)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		us[uid] = name
	}
	return name
}

// Listening returns the PIDs that listen on a TCP port, as far as their descriptors are
// visible.
func Listening(ctx context.Context, port int) ([]int, error) {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			continue // without IPv6 there is none
		}
		for line := range strings.Lines(string(data)) {
			const listens = "0A"
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listens {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
				sockets["socket:["+f[9]+"]"] = true
			}
		}
	}
	if len(sockets) == 0 {
		return nil, nil
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range links {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // of another user, or ended
		}
		for _, e := range entries {
			if to, err := os.Readlink(dir + "/" + e.Name()); err == nil && sockets[to] {
				pid, _ := strconv.Atoi(strings.Split(dir, "/")[2])
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids, nil
}
