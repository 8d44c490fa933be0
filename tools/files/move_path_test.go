package files_test

import (
	"strings"
	"testing"
)

func TestMoveRefusals(t *testing.T) { relocateRefuses(t, "move_path") }

func TestMove(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.txt": "a\n", "b.txt": "b\n", "link": "-> a.txt", "README": "r\n",
		"old/x": "1\n", "old/.hidden": "2\n", "old/none/": "", "new/y": "3\n",
	})
	b.want("link -> sub/l: moved, a symlink; change …; undo: restore_file undo=true", b.call("move_path", args{"source": "link", "destination": "sub/l"}))
	b.want("README -> readme: moved, 2 B; change …", strings.TrimSuffix(b.call("move_path", args{"source": "README", "destination": "readme"}), "; undo: restore_file undo=true"))
	b.want("a.txt -> b.txt: moved, 2 B, replacing a file; change …", b.call("move_path", args{"from": "a.txt", "to": "b.txt", "overwrite": true}))
	b.want("old -> new: moved, 2 files, replacing a directory; change …", b.call("move_path", args{"source": "old", "destination": "new", "overwrite": true}))
	b.tree(map[string]string{
		"b.txt": "a\n", "readme": "r\n", "sub/l": "-> a.txt", "new/x": "1\n", "new/.hidden": "2\n", "new/none/": "",
	})
}

func TestMoveExpected(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "d/": ""})
	hash := sum("a\n")
	b.host("a.txt", "changed\n")
	b.want("error: conflict: a.txt is not what expected_hash names: …\n...", b.call("move_path", args{"source": "a.txt", "destination": "b.txt", "expected_hash": hash}))
	b.want("error: invalid_argument: d is a directory, and expected_hash is that of a file …", b.call("move_path", args{"source": "d", "destination": "e", "expected_hash": hash}))
	b.tree(map[string]string{"a.txt": "changed\n", "d/": ""})
	b.host("a.txt", "a\n")
	b.want("a.txt -> b.txt: moved, …", b.call("move_path", args{"source": "a.txt", "destination": "b.txt", "expected_hash": hash}))
	b.want("b.txt -> c.txt: moved, …", b.call("move_path", args{"source": "b.txt", "destination": "c.txt", "expected_hash": hash[:12]}))
}

// The user is asked before a move replaces what cannot be undone.
func TestMoveAsksBeforeALoss(t *testing.T) {
	relocateAsks(t, "move_path", "move")
	over := args{"source": "a.txt", "destination": "big.log", "overwrite": true}
	b := losing(t, "move_path", []loss{{over, "move a.txt over " + lostLarge, "move a.txt over big.log (67 MB)" + lostWithout}})
	b.want("a.txt -> big.log: moved, 2 B, replacing a file; change …; cannot be undone: big.log is larger than 67 MB", b.call("move_path", over))
}
