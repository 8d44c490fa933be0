package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/workspace"
)

// raceOpens is how many opens race against the attacker; the environment asks
// for more.
func raceOpens(t *testing.T) int {
	text := os.Getenv("TOOLCRIB_RACE_OPENS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("TOOLCRIB_RACE_OPENS=%s is not a number of opens", text)
	}
	return n
}

// shapes are what an attacker swaps: the name that is opened, and the two
// entries of ws that change places all the time.
var shapes = []struct{ name, open, a, b string }{
	{"directory", "d/f", "d", "d_out"},
	{"leaf", "leaf", "leaf", "leaf_out"},
	{"absolute link", "in/f", "in", "abs_out"},
	{"under a link", "hop/f", "d", "d_out"},
}

func newRaceTree(t *testing.T) tree {
	tr := newTree(t)
	tr.write(t, "ws/d/f", "inside")
	tr.write(t, "ws/leaf", "inside")
	tr.write(t, "out/f", secret)
	tr.link(t, "ws/d_out", "../out")
	tr.link(t, "ws/leaf_out", "../out/f")
	tr.link(t, "ws/in", "{base}/ws/d")
	tr.link(t, "ws/abs_out", "{base}/out")
	tr.link(t, "ws/hop", "{base}/ws/d")
	return tr
}

// attack exchanges two entries as fast as it can until stop is called.
func (tr tree) attack(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	a, b = tr.path("ws/"+a), tr.path("ws/"+b)
	swap := func() error { return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) }
	if err := swap(); err != nil {
		t.Skip("needs: a file system that exchanges names: " + err.Error())
	}
	if err := swap(); err != nil {
		t.Fatal(err)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			select {
			case <-done:
				if n%2 == 1 {
					swap() //nolint:errcheck // the next attack would fail at once
				}
				return
			default:
				if err := swap(); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// TestRacingSwap swaps the opened files for links out of the workspace. No open may
// read what is outside, and each must end with the content or a refusal.
func TestRacingSwap(t *testing.T) {
	tr := newRaceTree(t)
	opens := raceOpens(t)
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		for _, shape := range shapes {
			t.Run(shape.name, func(t *testing.T) {
				stop := tr.attack(t, shape.a, shape.b)
				defer stop()
				inside := 0
				refused := map[workspace.Rule]int{}
				for i := range opens {
					text := shape.open
					if i%2 == 1 {
						text = tr.path("ws/" + text)
					}
					got, err := read(w, text)
					switch {
					case err != nil:
						refused[ruleOf(t, err)]++
					case got == "inside":
						inside++
					default:
						t.Fatalf("open %d of %s read %q", i, text, got)
					}
				}
				t.Logf("%s: %d opens: 0 escapes, %d inside, refused %v", t.Name(), opens, inside, refused)
				if inside == 0 || refused[workspace.RuleOutside] == 0 {
					t.Error("the attack never met an open")
				}
			})
		}
	})
}

// TestRacingSwapControl shows that the attack works: a check of the resolved
// prefix before the open lets it out.
func TestRacingSwapControl(t *testing.T) {
	tr := newRaceTree(t)
	stop := tr.attack(t, "d", "d_out")
	defer stop()
	name, prefix := tr.path("ws/d/f"), tr.path("ws")
	opens, escapes := raceOpens(t), 0
	for i := range max(opens, 1_000_000) {
		if i >= opens && escapes > 0 {
			break
		}
		resolved, err := filepath.EvalSymlinks(name)
		if err != nil || !strings.HasPrefix(resolved, prefix) {
			continue
		}
		if data, err := os.ReadFile(name); err == nil && string(data) == secret {
			escapes++
		}
	}
	t.Logf("%d opens behind a check of the prefix, as control: %d escapes", opens, escapes)
	if escapes == 0 {
		t.Error("not one open behind a naive check escaped: the attack does not work")
	}
}

// TestRacingKind swaps a regular file for a FIFO: whatever was seen before, no
// open may wait for a writer.
func TestRacingKind(t *testing.T) {
	tr := newTree(t)
	if err := unix.Mkfifo(tr.path("ws/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, victim := range []string{"f", "sub"} {
		stop := tr.attack(t, victim, "fifo")
		backends(t, func(t *testing.T, opt workspace.Options) {
			w := tr.open(t, opt, "ws")
			p, err := w.Resolve(victim)
			if err != nil {
				t.Fatal(err)
			}
			for range 2_000 {
				if f, err := p.Open(); err == nil {
					f.Close()
				}
				_, _ = p.ReadDir() // what counts is that it returns
				if v, err := w.Narrow([]string{victim}); err == nil {
					v.Close()
				}
			}
		})
		stop()
	}
}

func TestKernelFileSystems(t *testing.T) {
	tr := newTree(t)
	if err := os.Mkdir(tr.path("ws/proc"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Without the right to mount, the top of the file system is the root.
	root, prefix := "ws", ""
	if err := unix.Mount("proc", tr.path("ws/proc"), "proc", 0, ""); err != nil {
		t.Logf("mounting procfs: %v", err)
		root, prefix = "../../../../../../../../../..", "/"
	} else {
		t.Cleanup(func() { unix.Unmount(tr.path("ws/proc"), unix.MNT_DETACH) })
	}
	tr.link(t, "ws/to_environ", "{base}/ws/proc/self/environ")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, root)
		names := []string{"proc/1/comm", "proc/self/environ", "proc/self/mem", "proc/self/root/etc/hostname", "proc/self/cwd/f", "proc/version", "proc"}
		if prefix == "" {
			names = append(names, "to_environ")
		} else {
			names = append(names, "sys/kernel/mm", "sys/devices/system/cpu/online")
		}
		for _, name := range names {
			p, err := w.Resolve(prefix + name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Open()
			if rule := ruleOf(t, err); rule != workspace.RuleProcfs {
				t.Errorf("Open %s: rule %q, %v", name, rule, err)
			}
			if _, err = p.Stat(); ruleOf(t, err) != workspace.RuleProcfs {
				t.Errorf("Stat %s: %v", name, err)
			}
			if _, err = p.ReadDir(); err == nil {
				t.Errorf("%s was listed", name)
			}
		}
	})
	if _, err := workspace.Open([]string{"/proc"}, workspace.Options{}); ruleOf(t, err) != workspace.RuleProcfs {
		t.Errorf("procfs as a root: %v", err)
	}
}

func TestDeepPaths(t *testing.T) {
	tr := newTree(t)
	deep := strings.TrimSuffix(strings.Repeat("d/", 400), "/")
	tr.write(t, "ws/"+deep+"/f", "bottom")
	tr.link(t, "ws/abs_deep", "{base}/ws/"+deep)
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		for _, text := range []string{deep + "/f", "abs_deep/f"} {
			if got, err := read(w, text); got != "bottom" || err != nil {
				t.Errorf("%.20s...: %q, %v", text, got, err)
			}
		}
		for _, text := range []string{deep + "/missing", "abs_deep/x/y", deep + "/f/"} {
			if _, err := read(w, text); ruleOf(t, err) == "" {
				t.Errorf("%.20s... was opened", text)
			}
		}
	})
}

// TestRacingRenames renames what has nothing to do with the path all the time: the
// kernel gives up on each ".." that a rename anywhere comes between, and the links
// have to be followed all the same.
func TestRacingRenames(t *testing.T) {
	tr := newRaceTree(t)
	const links = 30
	tr.write(t, "ws/chain/f", "inside")
	last := "../chain"
	for i := range links {
		name := "l" + strconv.Itoa(i)
		tr.link(t, "ws/chain/"+name, last)
		last = "../chain/" + name
	}
	stop := tr.attack(t, "d", "d_out")
	defer stop()
	w := tr.open(t, workspace.Options{}, "ws")
	for i := range 2_000 {
		if got, err := read(w, "chain/l"+strconv.Itoa(links-1)+"/f"); got != "inside" {
			t.Fatalf("open %d: %q, %v", i, got, err)
		}
	}
	p, err := w.Resolve("chain")
	if err != nil {
		t.Fatal(err)
	}
	// What is left where the links of the path change all the time as well.
	e, ok := errors.AsType[*workspace.Error](workspace.Refuse(p, unix.EAGAIN))
	if !ok || e.Rule != workspace.RuleIO || e.Msg != "chain: the tree changes too fast" || !strings.HasPrefix(e.Hint, "try again") {
		t.Errorf("too many renames: %v", e)
	}
}
