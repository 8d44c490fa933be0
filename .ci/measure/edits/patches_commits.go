package edits

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	changedFiles = 6       // of a commit, at most
	changedBytes = 300_000 // of a file, at most
)

// fileChange is what a commit changes in a file.
type fileChange struct {
	from          string // commit and name
	before, after string
	hunks         map[int][]diffHunk // by lines of context
}

// diffHunk is a hunk of a unified diff.
type diffHunk struct {
	oldStart, oldLines, newStart, newLines int
	heading, body                          string
}

func (h diffHunk) head() string {
	return strings.TrimRight(fmt.Sprintf("@@ -%d,%d +%d,%d @@ %s", h.oldStart, h.oldLines, h.newStart, h.newLines, h.heading), " ") + "\n"
}

// lying is the hunk as models write them who do not count: its lines begin some lines off,
// or anywhere, or at the first line, and no heading is there.
func (h diffHunk) lying(rng *rand.Rand, lines int) diffHunk {
	switch rng.IntN(3) {
	case 0:
		h.oldStart = max(h.oldStart+rng.IntN(41)-20, 1)
	case 1:
		h.oldStart = 1 + rng.IntN(lines+1)
	default:
		h.oldStart = 1
	}
	h.newStart = h.oldStart
	return h
}

// places counts where the old lines of a hunk stand in a text.
func (h diffHunk) places(text string) int {
	var old strings.Builder
	for line := range strings.Lines(h.body) {
		if line[0] == ' ' || line[0] == '-' {
			old.WriteString(line[1:])
		}
	}
	n, at := 0, 0
	text = "\n" + text
	for {
		i := strings.Index(text[at:], "\n"+old.String())
		if i < 0 {
			return n
		}
		n, at = n+1, at+i+1
	}
}

// collectChanges returns changed text files of commits, which are spread over all of the
// repositories.
func collectChanges(ctx context.Context, wanted int) (commits int, changes []fileChange, err error) {
	dirs := filepath.SplitList(os.Getenv("PATCH_REPOSITORIES"))
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	for i, dir := range dirs {
		r := patchRepository{ctx: ctx, dir: dir}
		n, found, err := r.changes((wanted - commits) / (len(dirs) - i))
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", filepath.Base(dir), err)
		}
		commits, changes = commits+n, append(changes, found...)
	}
	if len(changes) == 0 {
		return 0, nil, errors.New("no commit changes a text file; a shallow clone has none: name repositories in PATCH_REPOSITORIES")
	}
	return commits, changes, nil
}

// patchRepository is a repository of git, read by its program.
type patchRepository struct {
	ctx   context.Context
	dir   string
	in    io.Writer
	blobs *bufio.Reader
}

func (r *patchRepository) git(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.ctx, "git", append([]string{"-C", r.dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	return cmd
}

// changes returns the changed files of about so many commits.
func (r *patchRepository) changes(wanted int) (commits int, out []fileChange, err error) {
	list, err := r.git("log", "--no-merges", "--no-renames", "--format=%H").Output()
	if err != nil {
		return 0, nil, err
	}
	all := strings.Fields(string(list))
	cat := r.git("cat-file", "--batch")
	in, err := cat.StdinPipe()
	if err != nil {
		return 0, nil, err
	}
	r.in = in
	pipe, err := cat.StdoutPipe()
	if err != nil {
		return 0, nil, err
	}
	r.blobs = bufio.NewReader(pipe)
	if err := cat.Start(); err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, in.Close(), cat.Wait()) }()
	step := max(len(all)/max(2*wanted, 1), 1) // about half change no text file, or several add one
	for i := 0; i < len(all) && commits < wanted; i += step {
		found, err := r.commit(all[i])
		if err != nil {
			return 0, nil, err
		}
		if len(found) > 0 {
			commits++
		}
		out = append(out, found...)
	}
	return commits, out, nil
}

var (
	diffOfFile = regexp.MustCompile(`(?m)^diff --git `)
	indexLine  = regexp.MustCompile(`(?m)^index ([0-9a-f]+)\.\.([0-9a-f]+) 100(?:644|755)\n--- (.*)\n\+\+\+ .*\n`)
	hunkHead   = regexp.MustCompile(`(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)\n`)
)

// commit returns the text files that a commit changes.
func (r *patchRepository) commit(id string) ([]fileChange, error) {
	var out []fileChange
	index := map[string]int{}
	for _, lines := range []int{3, 1} {
		text, err := r.git("diff-tree", "-p", "--no-renames", "--diff-filter=M", "--full-index", "--no-textconv", fmt.Sprintf("-U%d", lines), id).Output()
		if err != nil {
			return nil, r.ctx.Err() // a snapshot may lack large files
		}
		for _, part := range diffOfFile.Split(string(text), -1) {
			m := indexLine.FindStringSubmatchIndex(part)
			if m == nil {
				continue
			}
			old, changed, name := part[m[2]:m[3]], part[m[4]:m[5]], part[m[6]:m[7]]
			if lines == 3 {
				if len(out) == changedFiles {
					continue
				}
				c := fileChange{from: id[:12] + " " + name, hunks: map[int][]diffHunk{}}
				if c.before, err = r.blob(old); err == nil {
					c.after, err = r.blob(changed)
				}
				if err != nil {
					return nil, err
				}
				if !plainText(c.before) || !plainText(c.after) {
					continue
				}
				index[name] = len(out)
				out = append(out, c)
			}
			if i, ok := index[name]; ok {
				out[i].hunks[lines] = hunksOf(part[m[1]:])
			}
		}
	}
	return out, nil
}

// plainText reports whether a file can be put into a call as it is.
func plainText(text string) bool {
	return len(text) < changedBytes && utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\r\ufeff")
}

func hunksOf(text string) (hunks []diffHunk) {
	heads := hunkHead.FindAllStringSubmatchIndex(text, -1)
	for i, m := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		number := func(group int) int {
			if m[2*group] < 0 {
				return 1
			}
			n, _ := strconv.Atoi(text[m[2*group]:m[2*group+1]])
			return n
		}
		hunks = append(hunks, diffHunk{number(1), number(2), number(3), number(4), text[m[10]:m[11]], text[m[1]:end]})
	}
	return hunks
}

// blob returns the content of an object.
func (r *patchRepository) blob(id string) (string, error) {
	if _, err := io.WriteString(r.in, id+"\n"); err != nil {
		return "", err
	}
	head, err := r.blobs.ReadString('\n')
	if err != nil {
		return "", err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return "", fmt.Errorf("object %s", head)
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return "", err
	}
	data := make([]byte, n+1)
	_, err = io.ReadFull(r.blobs, data)
	return string(data[:n]), err
}
