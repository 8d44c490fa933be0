package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"toolcrib/.ci/measure/harness"
)

// plantedTree makes the directory that plants are tried in. Each of its places decides which
// programs run later: in .git, in worktrees, submodules and bare repositories, by links, and
// by what the configuration of git names.
const plantedTree = `set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_ALLOW_PROTOCOL=file
git init -q src; (cd src; git commit -q --allow-empty -m x)
git init -q .; git commit -q --allow-empty -m x
for at in lib deep/name/sub; do git -c protocol.file.allow=always submodule --quiet add ./src $at; done
git worktree add -q deep/tree; git -C deep/name/sub worktree add -q ../../subtree
mkdir -p deep .vscode .claude .husky githooks conf/cursor conf/codex store gitstore/hooks
git init -q deep/r; git init -q --bare store/b.git; git init -q gitstore/linked; git init -q deep/h
mkdir linked; ln -s ../gitstore/linked/.git linked/.git; rm -r deep/h/.git/hooks; ln -s ../../../gitstore/hooks deep/h/.git/hooks
mkdir deep/r/.vscode deep/.claude; touch .vscode/tasks.json .mcp.json .claude/settings.json .husky/pre-commit more.inc deep/.mcp.json deep/r/.vscode/settings.json deep/.claude/settings.json conf/cursor/mcp.json conf/codex.toml conf/mcp.json
ln -s conf/cursor .cursor; mkdir .codex; ln -s ../conf/codex.toml .codex/config.toml; ln -s "$PWD/conf/mcp.json" src/.mcp.json
git config core.hooksPath githooks; git config include.path ../more.inc
mkdir -p big/.claude; touch big/.claude/settings.json
`

// decisive is a place with the directories by which it can be replaced, and the name that a
// result tells it by.
type decisive struct {
	at      string
	handles []string
	told    string
}

// plants are the places of the tree.
func plants() []decisive {
	list := []decisive{
		{at: ".codex/config.toml", handles: []string{".codex", "conf", "conf/codex.toml"}},
		{at: "src/.mcp.json", handles: []string{"conf", "conf/mcp.json"}},
		{at: ".cursor/mcp.json", handles: []string{".cursor", "conf", "conf/cursor", "conf/cursor/mcp.json"}, told: ".cursor"},
		{at: "linked/.git/config", handles: []string{"linked", "linked/.git", "gitstore", "gitstore/linked", "gitstore/linked/.git"}, told: "linked/.git"},
		{at: "deep/h/.git/hooks/post-commit", handles: []string{"deep", "deep/h", "deep/h/.git", "deep/h/.git/hooks", "gitstore", "gitstore/hooks"}, told: "deep/h/.git"},
	}
	for at, told := range map[string]string{
		".git/config": ".git", ".git/hooks/pre-commit": ".git", ".git/commondir": ".git/commondir", ".git/modules/lib/config": ".git", ".git/modules/deep/name/sub/hooks/pre-commit": ".git",
		".git/worktrees/tree/commondir": ".git", ".git/worktrees/tree/config.worktree": ".git", ".git/modules/deep/name/sub/worktrees/subtree/gitdir": ".git",
		".vscode/tasks.json": ".vscode", ".mcp.json": "", ".claude/settings.json": ".claude", ".husky/pre-commit": ".husky", "githooks/pre-commit": "githooks", "more.inc": "",
		"deep/.mcp.json": "", "deep/r/.git/config": "deep/r/.git", "deep/r/.vscode/settings.json": "deep/r/.vscode", "deep/tree/.git": "", "deep/.claude/settings.json": "deep/.claude",
		"store/b.git/config": "store/b.git", "store/b.git/hooks/update": "store/b.git", "deep/name/sub/.git": "",
	} {
		p := decisive{at: at, told: told}
		for dir := at; dir != "."; dir = path.Dir(dir) {
			p.handles = append(p.handles, dir)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b decisive) int { return strings.Compare(a.at, b.at) })
	return list
}

// plantWays replace what A names and then plant at P; each is the commands of as many calls. X
// and Y are names in the directory of A.
var plantWays = map[string][]string{
	"as it is":           {"{plant}"},
	"moved":              {"mv {A} {X}; {plant}"},
	"moved, copied":      {"mv {A} {X}; cp -a {X} {A}; {plant}"},
	"moved, then copied": {"mv {A} {X}", "cp -a {X} {A}; {plant}"},
	"removed":            {"rm -rf {A}; {plant}"},
	"linked":             {"mv {A} {X}; cp -a {X} {Y}; ln -s $(basename {Y}) {A}; {plant}"},
	"exchanged":          {`cp -a {A} {Y}; /usr/bin/python3 -c 'import ctypes; ctypes.CDLL(None).syscall(316, -100, b"{A}", -100, b"{Y}", 2)'; {plant}`},
	"hard link":          {"ln {P} {Y}; echo PLANTED >> {Y}; rm -f {Y}"},
	"like bare":          {"mkdir {A}/HEAD {A}/objects {A}/refs", "{plant}"},
	"bare":               {`mkdir {A}/objects {A}/refs; echo "ref: refs/heads/x" > {A}/HEAD`, "{plant}"},
	"unreadable":         {"chmod 0 {A}", "chmod 755 {A}; {plant}"},
	"unreadable, moved":  {"chmod 0 {A}", "chmod 755 {A}; mv {A} {X}; cp -a {X} {A}; {plant}"},
	"pipe":               {"mv {A} {X}; mkfifo {A}", "rm {A}; cp -a {X} {A}; {plant}"},
	"shifted down":       {"mv {A} {X}; mkdir -p {A}; mv {X} {A}/; {plant}"},
}

// moments are when a way is tried: of the calls of a server, at the first, after one, or
// with a restart between each two.
var moments = []string{"first", "later", "restarted"}

// plantCase is one way at one place.
type plantCase struct {
	decisive
	handle, way, moment string
}

func plantCases() (list []plantCase) {
	for _, p := range plants() {
		for _, handle := range p.handles {
			for way := range plantWays {
				if way == "hard link" && handle != p.handles[0] {
					continue
				}
				for _, moment := range moments {
					list = append(list, plantCase{p, handle, way, moment})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b plantCase) int {
		return strings.Compare(a.at+"\x00"+a.handle+"\x00"+a.way+"\x00"+a.moment, b.at+"\x00"+b.handle+"\x00"+b.way+"\x00"+b.moment)
	})
	return list
}

// planting tries all ways and returns what was planted without a word.
func (w *world) planting(ctx context.Context, env harness.Environment) error {
	if out, err := w.as("sh", "-c", "mkdir "+w.hidden+"/own && umask 077 && echo 'confirm: client' > "+w.hidden+"/own/config.yaml").CombinedOutput(); err != nil {
		return fmt.Errorf("write a configuration: %w: %s", err, out)
	}
	template, err := w.dir("", "toolcrib-template-")
	if err != nil {
		return err
	}
	if out, err := w.as("bash", "-c", "cd "+template+"\n"+plantedTree).CombinedOutput(); err != nil {
		return fmt.Errorf("make the tree: %w: %s", err, out)
	}
	var cases []plantCase
	all := plantCases()
	// A quick run takes every so many, all places and ways among them.
	for i := 0; i < len(all); i += max(len(all)/env.Of(len(all), 60), 1) {
		cases = append(cases, all[i])
	}
	counts, failed := map[string]int{}, error(nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; i < len(cases) && ctx.Err() == nil; i += 2 {
				how, err := w.tryPlant(env, template, cases[i])
				mu.Lock()
				if counts[how]++; how != "refused" && how != "told" && err == nil {
					fmt.Printf("  %s: %s by %s, %s, at %s\n", how, cases[i].at, cases[i].handle, cases[i].way, cases[i].moment)
				}
				if err != nil {
					failed = errors.Join(failed, fmt.Errorf("%+v: %w", cases[i], err))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	silent := len(cases) - counts["refused"] - counts["told"]
	fmt.Printf("user %d: %d plants tried: %d refused, %d told, %d silent\n", w.user, len(cases), counts["refused"], counts["told"], silent)
	if silent > 0 && failed == nil {
		failed = fmt.Errorf("user %d: %d planted without a word", w.user, silent)
	}
	return errors.Join(failed, ctx.Err())
}

// tryPlant carries out one case in a copy of the tree: "refused" where the place is as it
// was, "told" where a result names it, else what is wrong.
func (w *world) tryPlant(env harness.Environment, template string, c plantCase) (how string, err error) {
	base, err := os.MkdirTemp("", "toolcrib-plant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(base)
	if err := os.Chown(base, w.user, -1); err != nil {
		return "", err
	}
	root := base + "/w"
	if out, err := w.as("bash", "-c", fmt.Sprintf("cp -a %s %s && cd %s && grep -rlI %s . | xargs -r sed -i s,%s,%s,g; ln -sfn %s/conf/mcp.json src/.mcp.json", template, root, root, template, template, root, root)).CombinedOutput(); err != nil {
		return "", fmt.Errorf("copy the tree: %w: %s", err, out)
	}
	place := func(name string) string { return filepath.Join(root, name) }
	plant := fmt.Sprintf("mkdir -p %s; echo PLANTED >> %s", place(path.Dir(c.at)), place(c.at))
	replace := strings.NewReplacer("{plant}", plant, "{A}", place(c.handle), "{X}", place(c.handle+".x"), "{Y}", place(c.handle+".y"), "{P}", place(c.at))
	steps := plantWays[c.way]
	if c.moment == "later" {
		steps = append([]string{"true"}, steps...)
	}
	var said strings.Builder
	s := &planter{world: w, env: env, root: root}
	defer func() { err = errors.Join(err, s.stop()) }()
	for i, step := range steps {
		if i > 0 && c.moment == "restarted" {
			if err := s.stop(); err != nil {
				return "", err
			}
		}
		text, err := s.bash(replace.Replace(step))
		if err != nil {
			return "", err
		}
		said.WriteString(text)
	}
	text, err := s.bash("echo alive")
	if err != nil || !strings.Contains(text, "alive") {
		return "no command runs any more", err
	}
	var data []byte
	if info, err := os.Stat(place(c.at)); err == nil && info.Mode().IsRegular() {
		data, _ = os.ReadFile(place(c.at)) // what cannot be read was not planted there
	}
	if !bytes.Contains(data, []byte("PLANTED")) {
		return "refused", nil
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, " meanwhile: ") && (strings.Contains(line, c.at) || c.told != "" && strings.Contains(line, c.told) || strings.Contains(line, " "+strings.SplitN(c.at, "/", 2)[0]+"/ (")) || strings.Contains(line, ": not all are") || strings.Contains(line, "not all protected") {
			return "told", nil
		}
	}
	return "planted", nil
}

// planter is a server of a root, which is started when it is first called.
type planter struct {
	*world
	env  harness.Environment
	root string
	conf string // "" = that of plants
	c    *harness.Client
	id   int
}

func (s *planter) bash(command string) (string, error) {
	return s.callTool("bash", map[string]any{"command": command, "timeout": "20s"})
}

// callTool returns the text of a result, also of an error.
func (s *planter) callTool(name string, arguments map[string]any) (string, error) {
	if s.c == nil {
		c, err := harness.DialCommand(s.as(s.env.Binary, "serve", "--config", cmp.Or(s.conf, s.hidden+"/own/config.yaml"), "--state-dir", s.state, s.root), nil)
		if err != nil {
			return "", err
		}
		if s.c = c; c.Initialize() != nil {
			return "", errors.New("the server does not start")
		}
	}
	s.id++
	answer, err := s.c.Call(s.id, "tools/call", map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return "", err
	}
	var result struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(answer.Result, &result); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, c := range result.Content {
		text.WriteString(c.Text + "\n")
	}
	return text.String(), nil
}

func (s *planter) stop() error {
	if s.c == nil {
		return nil
	}
	c := s.c
	s.c = nil
	return c.Close()
}
