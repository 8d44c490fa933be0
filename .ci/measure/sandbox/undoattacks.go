package sandbox

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

//go:embed undoattacks.py
var undoAttackScript string

// Texts that must not leave their files.
const outsideSecret, deniedSecret = "SECRET-OUTSIDE-OF-THE-ROOTS", "SECRET-THAT-THE-POLICY-DENIES"

// UndoAttacks runs programs that try to hide their changes from undo, to have the server read
// what is not its to read, and to block it. An undo may miss a change, if the result says so.
func UndoAttacks(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("undoattacks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	outside, err := os.MkdirTemp(shelf(), "toolcrib-outside-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(outside)
	script, config := filepath.Join(base, "attack.py"), filepath.Join(base, "config.yaml")
	err = errors.Join(os.Chmod(outside, 0o755), harness.WriteTree(base, map[string]string{"attack.py": undoAttackScript, "config.yaml": "policy:\n  - {verdict: deny, path: [closed]}\n"}))
	if err != nil {
		return err
	}
	list, err := exec.CommandContext(ctx, "python3", script, "list").Output()
	if err != nil {
		return err
	}
	a := &undoAttacks{tree: undoTree{dir: dir}, secret: filepath.Join(outside, "secret.txt"), state: dir + ".state"}
	if err := os.WriteFile(a.secret, []byte(outsideSecret), 0o666); err != nil {
		return err
	}
	if err := a.plant(); err != nil {
		return err
	}
	if a.want, err = a.tree.look(ctx); err != nil {
		return err
	}
	names := strings.Fields(string(list))
	tried := 0
	// Level none has mounts and other roots, and no walls. A policy leaves no file index.
	groups := map[string][]string{}
	for _, name := range names {
		if strings.Contains(name, "denied") {
			groups["full "+config] = append(groups["full "+config], name)
			continue
		}
		groups["full "] = append(groups["full "], name)
		if kind, _, _ := strings.Cut(name, "-"); (kind == "mount" || kind == "moved" || kind == "trap") && !strings.Contains(name, "outside") {
			groups["none "] = append(groups["none "], name)
		}
	}
	step := max(int(1/env.Scale)/10, 1)
	for how, some := range groups {
		level, config, _ := strings.Cut(how, " ")
		n, err := a.run(ctx, env, level, config, some, step)
		if err != nil {
			return err
		}
		tried += n
	}
	leaked, err := a.leaks()
	if err != nil {
		return err
	}
	fmt.Printf("%d attacks: %d changes missed, said but for %d; %d through the walls; %d reads outside of the roots; %d times blocked; slowest other call %.0f ms\n",
		tried, a.missed, a.silent, a.through, a.reads+leaked, a.blocked, harness.Milliseconds(a.slowest))
	if a.silent+a.through+a.reads+leaked+a.blocked > 0 || a.slowest > 5*time.Second {
		return errors.New("attacks on undo")
	}
	return nil
}

type undoAttacks struct {
	tree                                    undoTree
	want                                    map[string]string
	secret, state                           string
	missed, silent, through, reads, blocked int
	slowest                                 time.Duration
}

// plant makes the tree in the place of what there is.
func (a *undoAttacks) plant() error {
	if err := harness.Empty(a.tree.dir); err != nil {
		return err
	}
	return harness.WriteTree(a.tree.dir, map[string]string{
		"a.txt": "one\ntwo\n", "b.txt": "b\n", "d/secret.txt": "in d\n", "other/secret.txt": "in other\n", "other/a.txt": "other\n", "closed/secret.txt": deniedSecret, "attack.py": undoAttackScript,
	})
}

// run runs every step-th of the attacks at a level and returns how many.
func (a *undoAttacks) run(ctx context.Context, env harness.Environment, level, config string, names []string, step int) (n int, err error) {
	flags := []string{"--preset=all", "--sandbox=" + level}
	if config != "" {
		flags = append(flags, "--config="+config)
	}
	u, err := harness.UseTools(ctx, env.Writer(a.tree.dir, flags...))
	if err != nil {
		return 0, err
	}
	if err := a.index(u); err != nil {
		return 0, err
	}
	for i := 0; i < len(names); i += step {
		if err := a.attack(ctx, u, level, names[i]); err != nil {
			return n, fmt.Errorf("%s at %s: %w", names[i], level, err)
		}
		n++
	}
	return n, u.Close()
}

// index has the server make its file index, in the background.
func (a *undoAttacks) index(u *harness.ToolUser) error {
	_, err := u.Must("grep", map[string]any{"pattern": "nothing that is there"})
	time.Sleep(time.Second)
	return err
}

func (a *undoAttacks) attack(ctx context.Context, u *harness.ToolUser, level, name string) error {
	// The search makes the file index, or brings it up to date.
	if _, err := u.Must("grep", map[string]any{"pattern": "nothing that is there"}); err != nil {
		return err
	}
	watched := []string{a.secret}
	if strings.Contains(name, "denied") { // else the search may read it
		watched = append(watched, filepath.Join(a.tree.dir, "closed", "secret.txt"))
	}
	reads, err := watchReads(watched...)
	if err != nil {
		return err
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() { stopped <- a.others(u, stop) }()
	result, err := u.Use("bash", map[string]any{"command": fmt.Sprintf("python3 attack.py %s %s; echo ended", name, a.secret), "timeout": "40s"})
	close(stop)
	if err = errors.Join(err, <-stopped); err != nil {
		return err
	}
	opened, err := reads()
	if err != nil {
		return err
	}
	if opened > 0 {
		a.reads += opened
		fmt.Printf("%s at %s: %d reads outside of the roots, or of what is denied\n", name, level, opened)
	}
	if !strings.Contains(result.Text, "ended") {
		a.blocked++
		fmt.Printf("%s at %s: does not end: %.300s\n", name, level, result.Text)
	}
	outside, err := os.ReadFile(a.secret)
	if err != nil || string(outside) != outsideSecret {
		a.through++
		fmt.Printf("%s at %s: changed a file outside: %v\n", name, level, err)
		if err := os.WriteFile(a.secret, []byte(outsideSecret), 0o666); err != nil {
			return err
		}
	}
	return a.undo(ctx, u, level, name, result.Text)
}

// undo takes an attack back. What stays must have been said.
func (a *undoAttacks) undo(ctx context.Context, u *harness.ToolUser, level, name, said string) error {
	now, err := a.tree.look(ctx)
	if err != nil {
		return err
	}
	if now["closed/secret.txt"] != a.want["closed/secret.txt"] && level == "full" {
		a.through++
		fmt.Printf("%s at %s: changed a denied file\n", name, level)
	}
	if maps.Equal(now, a.want) {
		return nil
	}
	refused := false
	_, files, _ := strings.Cut(said, "\nfiles: ")
	if files != "" && !strings.HasPrefix(files, "changed meanwhile") {
		r, err := u.Use("restore_file", map[string]any{"undo": true})
		if err != nil {
			return err
		}
		refused = r.Failed
	}
	if now, err = a.tree.look(ctx); err != nil {
		return err
	}
	maps.DeleteFunc(now, func(_, what string) bool { return strings.HasPrefix(what, "S") }) // sockets are not undone
	why := differ(a.want, now)
	if why == "" {
		return nil
	}
	a.missed++
	if !refused && !strings.Contains(said, "changed meanwhile") && !strings.Contains(said, "cannot be undone") {
		a.silent++
		fmt.Printf("%s at %s: missed without a word: %s: %.400s\n", name, level, why, said)
	}
	return a.plant()
}

// others makes other calls until stop is closed, and notes how long the slowest takes.
func (a *undoAttacks) others(u *harness.ToolUser, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		case <-time.After(10 * time.Millisecond):
		}
		begin := time.Now()
		if _, err := u.Use("file_info", map[string]any{"path": "b.txt"}); err != nil {
			return err
		}
		a.slowest = max(a.slowest, time.Since(begin))
	}
}

// watchReads counts the opens and reads of files until the returned function is called.
func watchReads(files ...string) (count func() (int, error), err error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if _, err := unix.InotifyAddWatch(fd, file, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
			return nil, errors.Join(err, unix.Close(fd))
		}
	}
	return func() (n int, err error) {
		defer func() { err = errors.Join(err, unix.Close(fd)) }()
		buffer := make([]byte, 4096)
		for {
			got, err := unix.Read(fd, buffer)
			if err == unix.EAGAIN {
				return n, nil
			}
			if err != nil {
				return n, err
			}
			for at := 0; at+unix.SizeofInotifyEvent <= got; at += unix.SizeofInotifyEvent {
				n++ // an event of a file has no name
			}
		}
	}, nil
}

// leaks counts the files of the state that have one of the secrets.
func (a *undoAttacks) leaks() (n int, err error) {
	err = filepath.WalkDir(a.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && (bytes.Contains(data, []byte(outsideSecret)) || bytes.Contains(data, []byte(deniedSecret))) {
			n++
			fmt.Printf("a secret is in the state: %s\n", path)
		}
		return err
	})
	return n, err
}
