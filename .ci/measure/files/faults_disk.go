package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

// diskCase is a server on a disk or with rights that do not let it write.
type diskCase struct {
	name string
	// prepare makes the trees of files and state unusual; undo takes that back. Its
	// error says what it needs.
	prepare func(files, state string) (undo func() error, err error)
	user    bool     // the server runs as an ordinary user
	wrap    []string // what runs the server
	calls   []diskCall
}

type diskCall struct {
	call harness.Call
	want string // done, refused, "" = either
}

// bigText has 600 kB: two do not fit on the small disk.
func bigText() string { return strings.Repeat("sixteen bytes..\n", 600<<10/16) }

// diskCases are made when they are wanted: a program that serves the toys of another
// figure starts without them.
func diskCases() []diskCase {
	return []diskCase{{
		name: "1 MB tmpfs", prepare: smallDisk(true, false),
		calls: []diskCall{
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "big.txt", "content": strings.Repeat("other 15 bytes.\n", 600<<10/16)}}, "refused"},
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "big.txt", "content": bigText(), "mode": "append"}}, "refused"},
			{harness.Call{Tool: "edit_file", Args: map[string]any{"path": "big.txt", "edits": []map[string]any{{"start_line": 3, "end_line": 3, "new_text": "third"}}}}, "refused"},
			{harness.Call{Tool: "copy_path", Args: map[string]any{"source": "big.txt", "destination": "copy.txt"}}, "refused"},
			{harness.Call{Tool: "apply_patch", Args: map[string]any{"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-a 7 is a line\n+seven\n*** Add File: n.txt\n+" + strings.ReplaceAll(bigText(), "\n", "\n+") + "\n*** End Patch\n"}}, "refused"},
			{harness.Call{Tool: "edit_file", Args: map[string]any{"path": "a.txt", "edits": []map[string]any{{"old_text": "a 7 ", "new_text": "seven "}}}}, "done"},
			{harness.Call{Tool: "move_path", Args: map[string]any{"source": "big.txt", "destination": "b.txt", "overwrite": true}}, "done"},
			{harness.Call{Tool: "delete_path", Args: map[string]any{"path": "b.txt"}}, "done"},
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "big.txt", "content": bigText()}}, "done"},
		},
	}, {
		name: "state on a full tmpfs", prepare: smallDisk(false, true),
		calls: []diskCall{
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": bigText()}}, ""},
			{harness.Call{Tool: "delete_path", Args: map[string]any{"path": "tree", "recursive": true}}, ""},
			{faultPatch, ""},
		},
	}, {
		name: "file size limit 128 kB", wrap: []string{"/bin/sh", "-c", `ulimit -f 256; exec "$@"`, "sh"},
		calls: []diskCall{
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": bigText()}}, "refused"},
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "n.txt", "content": bigText()}}, "refused"},
			{harness.Call{Tool: "edit_file", Args: map[string]any{"path": "big.txt", "edits": []map[string]any{{"start_line": 3, "end_line": 3, "new_text": "third"}}}}, "refused"},
			{faultPatch, "done"},
		},
	}, {
		name: "directory of another user", user: true,
		prepare: func(files, _ string) (func() error, error) {
			return nil, errors.Join(owned(filepath.Join(files, "a.txt")), os.Chmod(files, 0o755))
		},
		calls: []diskCall{
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "n.txt", "content": "new\n"}}, "refused"},
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "b.txt", "content": "new\n"}}, "refused"},
			{harness.Call{Tool: "delete_path", Args: map[string]any{"path": "a.txt"}}, "refused"},
			{harness.Call{Tool: "move_path", Args: map[string]any{"source": "a.txt", "destination": "tree/a.txt"}}, "refused"},
			{harness.Call{Tool: "copy_path", Args: map[string]any{"source": "a.txt", "destination": "n.txt"}}, "refused"},
			{harness.Call{Tool: "make_directory", Args: map[string]any{"path": "p/q"}}, "refused"},
			{faultPatch, "refused"},
			{harness.Call{Tool: "edit_file", Args: map[string]any{"path": "a.txt", "edits": []map[string]any{{"old_text": "a 7 ", "new_text": "seven "}}}}, "done"}, // in place
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": "short\n"}}, "done"},
		},
	}, {
		name: "file that is read-only", user: true,
		prepare: func(files, _ string) (func() error, error) {
			return nil, errors.Join(owned(files), owned(filepath.Join(files, "a.txt")), os.Chmod(filepath.Join(files, "a.txt"), 0o444))
		},
		calls: []diskCall{
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": "new\n"}}, "refused"},
			{harness.Call{Tool: "edit_file", Args: map[string]any{"path": "a.txt", "edits": []map[string]any{{"old_text": "a 7 ", "new_text": "seven "}}}}, "refused"},
			{harness.Call{Tool: "write_file", Args: map[string]any{"path": "n.txt", "content": "new\n"}}, "done"},
		},
	}}
}

const ordinary = 65534 // a user without rights

func owned(name string) error { return os.Chown(name, ordinary, ordinary) }

// smallDisk mounts a file system of 1 MB below the files or the state.
func smallDisk(files, state bool) func(string, string) (func() error, error) {
	return func(filesDir, stateDir string) (func() error, error) {
		dir := filesDir
		if state {
			dir = stateDir
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			return nil, err
		}
		undo := func() error { return unix.Unmount(dir, unix.MNT_DETACH) }
		if files {
			return undo, errors.Join(plantFaults(dir, false), os.WriteFile(filepath.Join(dir, "big.txt"), []byte(bigText()), 0o644))
		}
		return undo, os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 960<<10), 0o644)
	}
}

// faultDisks has servers write where they cannot.
func faultDisks(ctx context.Context, env harness.Environment, base string) error {
	fmt.Println("\n| disks and rights | done | refused | torn or half | told wrongly | strays |\n|---|---|---|---|---|---|")
	var errs []error
	for i, c := range diskCases() {
		dir := filepath.Join(base, fmt.Sprint("disk", i))
		if os.Getuid() != 0 && (c.user || c.wrap == nil) {
			fmt.Printf("| %s | needs: root | | | | |\n", c.name)
			continue
		}
		if err := c.run(ctx, env, dir); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

func (c diskCase) run(ctx context.Context, env harness.Environment, base string) (err error) {
	r := &faultRunner{ctx: ctx, dir: filepath.Join(base, "files")}
	state := filepath.Join(base, "state")
	if err := errors.Join(os.MkdirAll(r.dir, 0o755), os.MkdirAll(state, 0o700), plantFaults(r.dir, false),
		os.WriteFile(filepath.Join(r.dir, "big.txt"), []byte(bigText()), 0o644)); err != nil {
		return err
	}
	if c.prepare != nil {
		undo, err := c.prepare(r.dir, state)
		if undo != nil {
			defer undo() //nolint:errcheck // the mount goes with the directory
		}
		if errors.Is(err, unix.EPERM) {
			fmt.Printf("| %s | needs: the right to mount | | | | |\n", c.name)
			return nil
		}
		if err != nil {
			return err
		}
	}
	binary := env.Binary
	if c.user { // who may not go to where it is
		if binary, err = copyProgram(env.Binary, base); err != nil {
			return err
		}
	}
	program := append(slices.Clone(c.wrap), binary, "serve", "--confirm", "client", "--state-dir", state, r.dir)
	var attr *syscall.SysProcAttr
	if c.user {
		if err := errors.Join(owned(state), passable(base)); err != nil {
			return err
		}
		attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	}
	done, refused, half, wrong, stray := 0, 0, 0, 0, 0
	for _, dc := range c.calls {
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		cmd.SysProcAttr = attr
		if c.user { // who may not look at the configuration of another
			cmd.Env = append(cmd.Environ(), "XDG_CONFIG_HOME="+filepath.Join(base, "none"))
		}
		if r.server, err = harness.DialCommand(cmd, nil); err != nil {
			return err
		}
		if err := r.server.Initialize(); err != nil {
			return err
		}
		old, strays, err := readFaults(r.dir)
		if err != nil {
			return err
		}
		stray += len(strays)
		answer, err := r.call(dc.call)
		if err != nil {
			return err
		}
		now, strays, err := readFaults(r.dir)
		if err != nil {
			return err
		}
		stray += len(strays)
		changed := !maps.Equal(old, now)
		says := "done"
		if answer.Failed {
			says = "refused"
			refused++
		} else {
			done++
		}
		switch {
		case answer.Failed && changed && !strings.Contains(answer.Text, "may not survive"):
			half++
			fmt.Printf("  %s: %s changed %s: %.300q\n", c.name, dc.call.Tool, differing(old, nil, now), answer.Text)
		case !answer.Failed && !changed, dc.want != "" && says != dc.want:
			wrong++
			fmt.Printf("  %s: %s %s, want %q: %.300q\n", c.name, dc.call.Tool, says, dc.want, answer.Text)
		}
		if err := r.stop(); err != nil {
			return err
		}
	}
	fmt.Printf("| %s | %d | %d | %d | %d | %d |\n", c.name, done, refused, half, wrong, stray)
	if half+wrong+stray > 0 {
		return fmt.Errorf("%d half, %d told wrongly, %d strays", half, wrong, stray)
	}
	return nil
}

// copyProgram copies a program into a directory.
func copyProgram(name, dir string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, filepath.Base(name))
	return to, os.WriteFile(to, data, 0o755)
}

// passable lets other users go through the directories down to base.
func passable(base string) error {
	for dir := base; dir != filepath.Dir(dir) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}
