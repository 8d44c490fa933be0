//go:build !linux && !windows

package processes

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// List returns the processes that ps sees, by PID.
func List(ctx context.Context) ([]Process, error) {
	cmd := exec.CommandContext(ctx, "ps", "-axww", "-o", "pid=,ppid=,user=,state=,rss=,lstart=,time=,command=")
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	var list []Process
	for line := range strings.Lines(string(out)) {
		if p, ok := parsePS(line); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// parsePS reads one line: five words, five of the start, the time, the command.
func parsePS(line string) (Process, bool) {
	f := strings.Fields(line)
	if len(f) < 12 {
		return Process{}, false
	}
	pid, err1 := strconv.Atoi(f[0])
	parent, err2 := strconv.Atoi(f[1])
	memory, err3 := strconv.ParseInt(f[4], 10, 64)
	start, err4 := time.ParseInLocation("Mon Jan 2 15:04:05 2006", strings.Join(f[5:10], " "), time.Local)
	if errors.Join(err1, err2, err3, err4) != nil {
		return Process{}, false
	}
	return Process{
		PID: pid, Parent: parent, User: f[2], State: f[3][:1], Memory: memory << 10,
		Start: start, Began: uint64(start.Unix()), CPU: clock(f[10]), Command: strings.Join(f[11:], " "),
	}, true
}

// clock reads "1-02:03:04", "02:03:04" or "03:04.56".
func clock(text string) time.Duration {
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", text
	}
	seconds, _ := strconv.ParseFloat(days, 64)
	seconds *= 24
	parts := strings.Split(rest, ":")
	for len(parts) < 3 {
		parts = append([]string{"0"}, parts...)
	}
	for i, part := range parts {
		n, _ := strconv.ParseFloat(part, 64)
		if i > 0 {
			seconds *= 60
		}
		seconds += n
	}
	return time.Duration(seconds * float64(time.Second))
}

// Listening is known on Linux alone.
func Listening(context.Context, int) ([]int, error) { return nil, errors.ErrUnsupported }
