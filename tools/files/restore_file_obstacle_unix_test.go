//go:build unix

package files_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func (p program) link(name, target string) {
	p.Helper()
	if err := os.Symlink(target, p.before(name, false)); err != nil {
		p.Fatal(err)
	}
}

// What a command put in the place of a directory goes first, and nothing is written through it.
func TestUndoOfReplacedDirectory(t *testing.T) {
	for name, replace := range map[string]func(p program){
		"link": func(p program) { p.link("d", "other") },
		"file": func(p program) { p.write("d", "f\n") },
		"fifo": func(p program) {
			if err := unix.Mkfifo(p.before("d", false), 0o600); err != nil {
				p.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := map[string]string{"a": "0\n", "d/x": "x\n", "d/s/y": "y\n", "other/x": "precious\n"}
			b := newBench(t, tree)
			do := func() {
				b.command(func(p program) {
					p.write("a", "1\n")
					p.remove("d/x")
					p.remove("d/s/y")
					p.remove("d/s")
					p.remove("d")
					replace(p)
				})
			}
			do()
			b.want("undid … bash: 6 paths; …\nd: deleted\nd/: made again\nd/s/: made again\na: restored, 2 B\nd/s/y: restored, 2 B\nd/x: restored, 2 B", b.call("restore_file", args{"undo": true}))
			b.tree(tree)
			do()
			b.want("undid … bash: 3 paths; …\nd: deleted\nd/: made again\nd/x: restored, 2 B\nnote: …", b.call("restore_file", args{"undo": true, "paths": []string{"d/x"}}))
			b.tree(map[string]string{"a": "1\n", "d/x": "x\n", "other/x": "precious\n"})
		})
	}
}

// A link deeper down goes first too.
func TestUndoOfReplacedSubdirectory(t *testing.T) {
	tree := map[string]string{"d/x": "x\n", "d/s/y": "y\n", "other/z": "z\n"}
	b := newBench(t, tree)
	b.command(func(p program) {
		p.remove("d/s/y")
		p.remove("d/s")
		p.link("d/s", "../other")
		p.remove("d/x")
	})
	b.want("undid …\nd/s: deleted\nd/s/: made again\nd/s/y: restored, 2 B\nd/x: restored, 2 B", b.call("restore_file", args{"undo": true}))
	b.tree(tree)
}

// What somebody else put in the place of a directory is a conflict, and no path.
func TestUndoThroughForeignLink(t *testing.T) {
	tree := map[string]string{"d/x": "x\n", "e": "e\n", "other/x": "precious\n"}
	b := newBench(t, tree)
	b.command(func(p program) { p.remove("d/x"); p.remove("d"); p.remove("e") })
	id := b.change("write_file", b.write("e", "e\n"))
	if err := os.Symlink("other", b.path("d").Host()); err != nil {
		t.Fatal(err)
	}
	b.call("restore_file", args{"undo": true, "version": id})
	b.want("error: conflict: nothing is undone: not as the change … left it: d (…)", b.call("restore_file", args{"undo": true}))
	b.want("error: conflict: … left it: d (…)", b.call("restore_file", args{"undo": true, "paths": []string{"d/x"}}))
	b.want("undid … bash: 4 paths; …\nd: deleted\nd/: made again\nd/x: restored, 2 B\ne: restored, 2 B", b.call("restore_file", args{"undo": true, "overwrite": true}))
	b.tree(tree)

	b.command(func(p program) { p.write("other/x", "1\n") })
	version := b.change("write_file", b.write("d/x", "1\n"))
	if err := os.RemoveAll(b.path("d").Host()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", b.path("d").Host()); err != nil {
		t.Fatal(err)
	}
	b.want("error: …", b.call("restore_file", args{"path": "d/x", "version": version}))
	b.want("error: conflict: … left it: d/x (…)", b.call("restore_file", args{"undo": true, "version": version}))
	b.host("other/x", "1\n")
}

// Nothing moves back through a link.
func TestUndoOfMoveThroughForeignLink(t *testing.T) {
	b := newBench(t, map[string]string{"d/t/x": "x\n", "other/z": "z\n"})
	b.change("move_path", b.move("d/t", "t"))
	if err := os.Remove(b.path("d").Host()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", b.path("d").Host()); err != nil {
		t.Fatal(err)
	}
	b.want("error: conflict: … left it: d (…)", b.call("restore_file", args{"undo": true}))
	b.want("undid … move_path: 2 paths; …\nt -> d/t: moved back\nd: deleted", b.call("restore_file", args{"undo": true, "overwrite": true}))
	b.tree(map[string]string{"d/t/x": "x\n", "other/z": "z\n"})
}
