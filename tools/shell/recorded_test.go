package shell_test

import "testing"

// What a command changes is recorded where its paths lead at that moment, though it writes to
// the same directory again and again.
func TestRecordedThroughSwaps(t *testing.T) {
	s := losing(t)
	for _, tc := range []struct{ name, prepare, line, want string }{
		{"one directory", "mkdir a; echo 1 >a/f; echo 1 >a/g", "echo 2 >a/f; echo 2 >a/g; echo 2 >a/new", `files: created a/new; changed a/f, a/g\n`},
		{"a link to another directory", "mkdir b c; echo 1 >b/f; echo 1 >c/f; ln -s b l", "echo 2 >l/f; ln -sfn c l; echo 2 >l/f", `changed b/f, c/f, l\n`},
		{"a link for a directory", "mkdir p e", "echo 1 >p/f; rm p/f; rmdir p; ln -s e p; echo 2 >p/g", `files: created e/g; changed p\n`},
		{"a moved directory", "mkdir m; echo 1 >m/f", "echo 2 >m/f; mv m n; mkdir m; echo 3 >m/f; echo 4 >n/f", `files: .*m/f`},
		{"a link in the end", "mkdir o; echo 1 >o/f; ln -s f o/l; ln -s none o/dangling", "echo 2 >o/l; echo 2 >o/dangling", `files: created o/none; changed o/f\n`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.t = t
			s.want(s.call(t.Context(), "bash", map[string]any{"command": tc.prepare}), `^exit 0`)
			s.want(s.call(t.Context(), "bash", map[string]any{"command": tc.line}), tc.want)
		})
	}
}
