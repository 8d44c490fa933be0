package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// fewerAtLeast is how many times fewer tokens a script takes.
const fewerAtLeast = 5

// bytesPerToken is about how many bytes a token has.
const bytesPerToken = 4

// job is one job that is done by plain calls and by a script. Both come to a result in the same
// form, which is what the model would say.
type job struct {
	name   string
	plain  func(m *model) (string, error)
	script string
}

// Codemode does three jobs by plain calls and by one script each, and counts the tokens that a
// model writes as arguments and reads as results. What it would read again with every further
// turn is not counted.
func Codemode(ctx context.Context, env harness.Environment) error {
	packages := env.Of(40, 12)
	fmt.Println("| job | plain calls | tokens | script: tokens | fewer |\n|---|---|---|---|---|")
	var less []float64
	for _, j := range jobs {
		plain, plainSays, err := try(ctx, env, packages, j.plain)
		if err != nil {
			return fmt.Errorf("%s, plain calls: %w", j.name, err)
		}
		scripted, scriptSays, err := try(ctx, env, packages, func(m *model) (string, error) {
			text, err := m.call("run_javascript", map[string]any{"tools": true, "code": j.script})
			if err != nil {
				return "", err
			}
			_, value, found := strings.Cut(text, "\nvalue: ")
			if !found || !strings.HasPrefix(text, "ok in ") {
				return "", errors.New(text)
			}
			var said string
			err = json.Unmarshal([]byte(value), &said)
			return said, err
		})
		if err != nil {
			return fmt.Errorf("%s, script: %w", j.name, err)
		}
		if plainSays != scriptSays || plainSays == "" {
			return fmt.Errorf("%s: by plain calls\n%.300s\nby the script\n%.300s", j.name, plainSays, scriptSays)
		}
		fewer := float64(plain.bytes) / float64(scripted.bytes)
		less = append(less, fewer)
		fmt.Printf("| %s | %d | %d | %d | %.1f times |\n", j.name, plain.calls, plain.bytes/bytesPerToken, scripted.bytes/bytesPerToken, fewer)
	}
	if worst := slices.Min(less); worst < fewerAtLeast && env.Full() {
		return fmt.Errorf("%.1f times fewer tokens, want at least %d", worst, fewerAtLeast)
	}
	return nil
}

// model counts what goes through one.
type model struct {
	u            *harness.ToolUser
	calls, bytes int
}

func (m *model) call(tool string, args map[string]any) (string, error) {
	sent, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	text, err := m.u.Must(tool, args)
	m.calls++
	m.bytes += len(tool) + len(sent) + len(text)
	return text, err
}

// nextPage finds what a result says about its next page.
var nextPage = regexp.MustCompile(`next: offset=(\d+)`)

// fileHash finds what file_info says of a file.
var fileHash = regexp.MustCompile(`(?m)^(\S+): file.*\n(?:  .*\n)*?  hash ([0-9a-f]+)`)

// pages calls a tool until its last page.
func (m *model) pages(tool string, args map[string]any) (texts []string, err error) {
	for {
		text, err := m.call(tool, args)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
		status, _, _ := strings.Cut(text, "\n")
		next := nextPage.FindStringSubmatch(status)
		if next == nil {
			return texts, nil
		}
		args = maps.Clone(args)
		if args["offset"], err = strconv.Atoi(next[1]); err != nil {
			return nil, err
		}
	}
}

// try does a job on a fresh tree.
func try(ctx context.Context, env harness.Environment, packages int, do func(m *model) (string, error)) (*model, string, error) {
	u, dir, remove, err := env.UseScratch(ctx, "codemode")
	defer remove()
	if err != nil {
		return nil, "", err
	}
	m := &model{u: u}
	says := ""
	if err = plant(dir, packages); err == nil {
		says, err = do(m)
	}
	return m, says, errors.Join(err, u.Close())
}

// plant writes a tree of packages, and under other/ a copy that lacks files and has changed ones.
func plant(dir string, packages int) error {
	for p := range packages {
		for f := range 10 {
			var b strings.Builder
			fmt.Fprintf(&b, "package p%02d\n\n", p)
			for n := range 3 + (p+f)%5 {
				fmt.Fprintf(&b, "// Do%d does the thing number %d of file %d.\nfunc Do%d_%d(a, b int) int { return a*%d + b }\n\n", n, n, f, f, n, n+f)
			}
			if f%4 == 0 {
				b.WriteString("func use() int { return oldLimit * 2 } // oldLimit is shared\n")
			}
			text := b.String()
			name := filepath.Join(fmt.Sprintf("p%02d", p), fmt.Sprintf("file%d.go", f))
			if err := write(filepath.Join(dir, "src", name), text); err != nil {
				return err
			}
			switch (p*10 + f) % 23 {
			case 3:
				continue // it lacks this
			case 7:
				text += "// changed\n"
			}
			if err := write(filepath.Join(dir, "other", name), text); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

var jobs = []job{
	{
		name: "count exported functions by package",
		plain: func(m *model) (string, error) {
			pages, err := m.pages("grep", map[string]any{"pattern": `^func [A-Z]`, "path": "src", "mode": "count", "limit": 1000})
			if err != nil {
				return "", err
			}
			sums := map[string]int{}
			for _, page := range pages {
				for _, line := range strings.Split(page, "\n")[1:] {
					count, file, found := strings.Cut(line, "\t")
					if !found {
						continue
					}
					n, err := strconv.Atoi(count)
					if err != nil {
						return "", err
					}
					sums[filepath.Dir(file)] += n
				}
			}
			best := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
				if sums[a] != sums[b] {
					return sums[b] - sums[a]
				}
				return strings.Compare(a, b)
			})[:5]
			for i, name := range best {
				best[i] = fmt.Sprintf("%s %d", name, sums[name])
			}
			return fmt.Sprintf("%d packages; most: %s", len(sums), strings.Join(best, ", ")), nil
		},
		script: `const sums = {};
for await (const page of tools.pages('grep', {pattern: '^func [A-Z]', path: 'src', mode: 'count', limit: 1000}))
  for (const [, n, dir] of page.matchAll(/^(\d+)\t(.*)\/[^/]+$/gm)) sums[dir] = (sums[dir] || 0) + Number(n);
const best = Object.entries(sums).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, 5);
Object.keys(sums).length + ' packages; most: ' + best.map(e => e.join(' ')).join(', ')`,
	},
	{
		name: "rename a constant and check it",
		plain: func(m *model) (string, error) {
			const pattern = `\boldLimit\b`
			pages, err := m.pages("grep", map[string]any{"pattern": pattern, "path": "src", "mode": "count", "limit": 1000})
			if err != nil {
				return "", err
			}
			files, places := 0, 0
			for _, page := range pages {
				for _, line := range strings.Split(page, "\n")[1:] {
					count, file, found := strings.Cut(line, "\t")
					if !found {
						continue
					}
					n, err := strconv.Atoi(count)
					if err != nil {
						return "", err
					}
					edit := map[string]any{"path": file, "edits": []any{map[string]any{"old_text": "oldLimit", "new_text": "newLimit", "replace_all": true}}}
					if _, err := m.call("edit_file", edit); err != nil {
						return "", err
					}
					files, places = files+1, places+n
				}
			}
			left, err := m.call("grep", map[string]any{"pattern": pattern, "path": "src", "mode": "files", "limit": 1})
			if err != nil {
				return "", err
			}
			made, err := m.call("grep", map[string]any{"pattern": `\bnewLimit\b`, "path": "src", "mode": "files", "limit": 1})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("renamed on %d lines of %d files; old ones left: %t, new ones: %t", places, files, strings.Contains(left, "src/"), strings.Contains(made, "src/")), nil
		},
		script: `const lines = async (word) => {
  const found = [];
  let path;
  for await (const page of tools.pages('grep', {pattern: '\\b' + word + '\\b', path: 'src', context: 0, limit: 1000}))
    for (const line of page.split('\n').slice(1)) {
      const match = /^\d+\t(.*)$/.exec(line);
      if (match) found.push({path, text: match[1]}); else path = line || path;
    }
  return found;
};
const before = await lines('oldLimit');
const patch = before.map(l => '*** Update File: ' + l.path + '\n@@\n-' + l.text + '\n+' + l.text.replace(/\boldLimit\b/g, 'newLimit') + '\n');
await tools.apply_patch({patch: '*** Begin Patch\n' + patch.join('') + '*** End Patch\n'});
const left = await lines('oldLimit'), made = await lines('newLimit');
'renamed on ' + before.length + ' lines of ' + new Set(before.map(l => l.path)).size + ' files; old ones left: ' + (left.length > 0) + ', new ones: ' + (made.length > 0)`,
	},
	{
		name: "compare two trees",
		plain: func(m *model) (string, error) {
			lists := map[string][]string{}
			for _, tree := range []string{"src", "other"} {
				pages, err := m.pages("glob", map[string]any{"pattern": "*.go", "path": tree, "limit": 1000})
				if err != nil {
					return "", err
				}
				for _, page := range pages {
					for _, line := range strings.Split(page, "\n")[1:] {
						if name, ok := strings.CutPrefix(line, tree+"/"); ok {
							lists[tree] = append(lists[tree], name)
						}
					}
				}
			}
			hashes := map[string]string{}
			for tree, names := range lists {
				for some := range slices.Chunk(names, 100) {
					paths := make([]string, len(some))
					for i, name := range some {
						paths[i] = tree + "/" + name
					}
					text, err := m.call("file_info", map[string]any{"paths": paths})
					if err != nil {
						return "", err
					}
					for _, told := range fileHash.FindAllStringSubmatch(text, -1) {
						hashes[told[1]] = told[2]
					}
				}
			}
			var missing, changed []string
			for _, name := range lists["src"] {
				switch other, there := hashes["other/"+name]; {
				case !there:
					missing = append(missing, name)
				case other != hashes["src/"+name]:
					changed = append(changed, name)
				}
			}
			slices.Sort(missing)
			slices.Sort(changed)
			return fmt.Sprintf("missing: %s; changed: %s", strings.Join(missing, " "), strings.Join(changed, " ")), nil
		},
		script: `const hashes = {};
for (const tree of ['src', 'other']) {
  const names = [];
  for await (const page of tools.pages('glob', {pattern: '*.go', path: tree, limit: 1000})) names.push(...page.split('\n').filter(l => l.startsWith(tree + '/')));
  const parts = [];
  for (let i = 0; i < names.length; i += 100) parts.push(tools.file_info({paths: names.slice(i, i + 100)}));
  for (const {files} of await Promise.all(parts)) for (const f of files) hashes[f.path] = f.hash;
}
const missing = [], changed = [];
for (const path of Object.keys(hashes).filter(p => p.startsWith('src/')).sort()) {
  const name = path.slice(4), other = hashes['other/' + name];
  if (!other) missing.push(name); else if (other !== hashes[path]) changed.push(name);
}
'missing: ' + missing.join(' ') + '; changed: ' + changed.join(' ')`,
	},
}
