package sandbox

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// binding returns the limits of a program that are lower than the machine's. Only these can
// be raised by a setting.
func binding(level Level, c sandboxinit.Command) Limits {
	l := Limits{Memory: max(c.Memory, 0), FileSize: max(c.FileSize, 0), Files: max(c.Files, 0), Processes: max(c.Processes, 0)}
	if lower(unix.RLIMIT_DATA, l.Memory) || l.Memory >= machineMemory() {
		l.Memory = 0
	}
	if lower(unix.RLIMIT_FSIZE, l.FileSize) {
		l.FileSize = 0
	}
	if lower(unix.RLIMIT_NOFILE, int64(l.Files)) {
		l.Files = 0
	}
	if countless(level, c.Processes) != "" || os.Geteuid() != 0 && lower(unix.RLIMIT_NPROC, int64(l.Processes)) {
		l.Processes = 0
	}
	return l
}

// countless says why the limit of processes has no effect; "" = it has, or there is none.
func countless(level Level, limit int) string {
	return countlessFor(level, limit, os.Geteuid(), sandboxinit.OwnLimit())
}

func countlessFor(level Level, limit, user int, own bool) string {
	switch {
	case limit <= 0:
		return ""
	case level != Full:
		return "level " + level.String() + " has no PID namespace, which they would be counted in"
	case user == 0 && !own:
		return "before Linux 6.14 a PID namespace has no limit of its own, and those of users do not bind root: run the server as another user"
	}
	return ""
}

// lower reports whether this process, and so every program, already has a lower limit.
func lower(resource int, limit int64) bool {
	var now unix.Rlimit
	return unix.Getrlimit(resource, &now) == nil && now.Max <= uint64(limit)
}

// machineMemory returns the size of memory and swap. The kernel grants no process more.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64((info.Totalram + info.Totalswap) * uint64(info.Unit))
}

// starvation detects that the kernel kills processes for lack of memory. The zero value is
// ready.
type starvation struct {
	mu     sync.Mutex
	at     time.Time
	before int64 // kills until then
	known  bool
}

// looked is how long a count stays valid.
const looked = time.Second

// look counts the kills, unless the last count is still valid.
func (s *starvation) look(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.at) > looked {
		s.before, s.known = oomKills("/proc/vmstat")
		s.at = now
	}
}

// since reports whether there were kills since the last count.
func (s *starvation) since() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := oomKills("/proc/vmstat")
	return known && s.known && now > s.before
}

// oomKills reads how many processes the kernel has killed for lack of memory.
func oomKills(file string) (n int64, known bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
			n, err := strconv.ParseInt(text, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
