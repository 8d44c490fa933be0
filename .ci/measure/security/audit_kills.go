package security

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/server/audit"
)

// The log that is written by processes that are killed rotates often.
const (
	killedLogSize  = 4 << 10
	killedLogFiles = 8
)

// WriteAudit is a process that writes an audit log until it is killed: it prints the
// number of each record that is on the disk.
func WriteAudit(args []string) error {
	keep, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	a, err := newAuditedLog(args[0])
	if err != nil {
		return err
	}
	l, err := a.open(ctx, killedLogSize, keep, false)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	for lane := range 4 {
		group.Go(func() {
			for i := first + lane; ; i += 4 {
				promise := audit.Promise(i % 3)
				if err := l.Append(auditRecord(i), promise); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				if promise == audit.Now {
					fmt.Println(i)
				}
			}
		})
	}
	group.Wait()
	return errors.New("the log cannot be written")
}

// auditKills kills two processes that write one log, again and again. Half of the
// logs keep all of their files: there no record may be lost that was acknowledged.
func auditKills(ctx context.Context, env harness.Environment, base string, rnd *rand.Rand) error {
	const roundsOfLog = 20
	var t killedLogs
	for first := range env.Of(1000, 40) / roundsOfLog {
		keep := killedLogFiles
		if first%2 == 0 {
			keep = 1 << 20
		}
		if err := t.kill(ctx, filepath.Join(base, strconv.Itoa(first)), keep, roundsOfLog, rnd); err != nil {
			return err
		}
	}
	fmt.Println("| kill -9 of two writers of one log, rotated every 4 kB | kills | torn ends told | acknowledged | lost of them | false alarms |\n|---|---|---|---|---|---|")
	fmt.Printf("| | %d | %d | %d | %d | %d |\n", t.kills, t.torn, t.acknowledged, t.lost, t.alarms)
	if t.lost+t.alarms > 0 {
		return fmt.Errorf("%d records lost, %d false alarms", t.lost, t.alarms)
	}
	return nil
}

// killedLogs counts what became of the logs of killed processes.
type killedLogs struct{ kills, torn, acknowledged, lost, alarms int }

// kill has a log written by processes that are killed.
func (t *killedLogs) kill(ctx context.Context, base string, keep, rounds int, rnd *rand.Rand) error {
	a, err := newAuditedLog(base)
	if err != nil {
		return err
	}
	defer a.state.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var all []int
	for round := range rounds {
		var acks [2][]int
		var errs [2]error
		var group sync.WaitGroup
		for i := range acks {
			wait := time.Duration(rnd.Int64N(int64(150 * time.Millisecond)))
			first := (2*round + i) * 1_000_000
			group.Go(func() { acks[i], errs[i] = killedWriter(ctx, self, base, keep, first, wait) })
		}
		group.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		t.kills += len(acks)
		all = append(append(all, acks[0]...), acks[1]...)
		l, err := a.open(ctx, killedLogSize, keep, false) // the next start
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
		r, err := audit.Verify(ctx, a.dir, a.state)
		if err != nil {
			return err
		}
		for _, p := range r.Problems {
			t.alarms++
			fmt.Println("  ", p)
		}
		if round == rounds-1 {
			t.torn += strings.Count(strings.Join(r.Notes, "\n"), "torn")
		}
	}
	if keep == killedLogFiles {
		return nil
	}
	here, err := a.ids()
	for _, id := range all {
		if t.acknowledged++; !here[id] {
			t.lost++
		}
	}
	return err
}

// killedWriter runs a writer for a while and kills it. It returns what the writer
// said is on the disk.
func killedWriter(ctx context.Context, self, base string, keep, first int, wait time.Duration) (acks []int, err error) {
	cmd := exec.CommandContext(ctx, self, "audit", base, strconv.Itoa(keep), strconv.Itoa(first))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		acks = append(acks, n)
	}
	_ = cmd.Wait() // it was killed
	return acks, nil
}

// ids returns the numbers of the records that are in the log.
func (a auditedLog) ids() (map[int]bool, error) {
	here := map[int]bool{}
	err := audit.Read(a.dir, func(line []byte) bool {
		var rec struct{ ID string }
		if json.Unmarshal(line, &rec) == nil {
			_, text, _ := strings.Cut(rec.ID, "-")
			if n, err := strconv.Atoi(text); err == nil {
				here[n] = true
			}
		}
		return true
	})
	return here, err
}
