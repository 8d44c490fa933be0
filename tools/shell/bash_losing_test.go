package shell_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/internal/programs/sandbox"
)

// asks returns what the user is asked before a call.
func (s server) asks(tool tools.Tool, args map[string]any) string {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	bound, err := tool.Bind(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx := tools.WithSession(s.t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: s.ws})
	q, err := tool.Question(ctx, bound)
	if err != nil {
		s.t.Fatal(err)
	}
	return q.Message
}

// tree makes files in the workspace; a number is the size of a sparse file in MiB.
func (s server) tree(dir string, sizes map[string]int64) {
	s.t.Helper()
	for name, size := range sizes {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Truncate(at, size<<20); err != nil {
			s.t.Fatal(err)
		}
	}
}

// host returns a path of the workspace on the host.
func (s server) host(name string) string {
	s.t.Helper()
	p, err := s.ws.Resolve(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return p.Host()
}

func named(t *testing.T, list []tools.Tool, name string) tools.Tool {
	t.Helper()
	for _, tool := range list {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool is called %s", name)
	return tools.Tool{}
}

// losing is a server with large files whose programs are recorded.
func losing(t *testing.T) server {
	t.Helper()
	s := start(t)
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: s.ws})
	if why := s.engine.Unrecorded(ctx); why != "" {
		t.Skip("needs: recorded programs: " + why)
	}
	dir := s.host(".")
	s.tree(dir, map[string]int64{
		"big.img": 70, "d/big.img": 70, "d/small": 0, "small": 0, "a b.img": 70, ".hidden.img": 70,
		"build/big.img": 70, "build/sub/big.img": 70, "mixed/build/big.img": 70, "mixed/small": 0, "repo/.git/objects/pack": 70,
		"parts/1": 60, "parts/2": 60, "parts/3": 60, "parts/4": 60, "parts/5": 60, "more/6": 60, "more/7": 60, "more/8": 60, "more/9": 60,
	})
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".git"), 0o755), os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("build/\n"), 0o644),
		os.Symlink("big.img", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	return s
}

// A command asks about what cannot be undone in the words of the tool that does the same.
func TestLosesAsTools(t *testing.T) {
	s := losing(t)
	bash, all := named(t, s.all, "bash"), files.Tools(files.Deps{})
	for _, tc := range []struct {
		lines []string
		tool  string
		args  map[string]any
		want  string
	}{
		{[]string{
			"rm big.img", "rm -f ./big.img", "/bin/rm big.img", "rm -rf big.img small", "unlink big.img", "cd d && rm ../big.img", "true; rm -- big.img", "bash -c 'rm big.img'", "timeout 5 rm big.img",
			"if true; then rm big.img; fi", "x=$(rm big.img)", "rm big.*", "rm -f big.img build/*", "rm " + s.host("big.img"), "rm {big,other}.img",
			`f=big.img; rm $f`, `f=big; rm "${f}.img"`, `d=.; f=big.img && rm -f "./$f"`, `for f in big.img small; do rm $f; done`, `for f in b*.img; do rm "$f"; done`, `f='b*.img'; rm $f`, `rm -f {"$x",big.img}`,
			"echo small big.img | xargs rm", `printf '%s\n' big.img | xargs -n 1 rm -f`, "xargs rm <<< 'small big.img'", "echo b*.img | xargs rm",
			`rm "$PWD/big.img"`, `rm "$PWD"/big.img`, `rm "${PWD}"/b*.img`, `rm $PWD/big.img`, `rm "$(pwd)/big.img"`, `cd d && rm "$PWD"/../big.img`, `d=.; rm -f "$d"/b*`, `x=big.img; y=$x; rm "$y"`,
			`a=(small big.img); rm "${a[@]}"`, `a=(small); a+=(big.img); rm -f ${a[*]}`, `a=(big); for f in "${a[@]}"; do rm "$f.img"; done`, `x=big.img; a=("$x"); rm "${a[@]}"`,
			`f() { rm -f "$1"; }; f big.img`, `f() { local x=$2; rm "$x"; }; f small big.img`, `f() { rm "$@"; }; f small big.img`, `f() { g "$1"; }; g() { rm -- "${1}.img"; }; f big`, `f() { rm big.img; }; f`,
		}, "delete_path", map[string]any{"path": "big.img"}, "delete big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"rm -rf d", "rm -r d/", "rm -fR d build small", "rm --recursive --force d", "find d -delete", "find d -type f -delete"},
			"delete_path", map[string]any{"path": "d", "recursive": true}, "delete the directory d with 2 files (73 MB); the history does not keep 1 file above 67 MB, which cannot come back, such as d/big.img"},
		{[]string{"find d -name 'b*' -delete", `find d -type f -name "b*" -exec rm {} \;`, "find d -name 'b*' -exec rm -f {} +", "find d -name 'b*' -print0 | xargs -0 rm -f", "x='b*'; find d -name \"$x\" -delete"}, "", nil,
			`delete what "b*" names below d, with 1 file (73 MB); the history does not keep 1 file above 67 MB, which cannot come back, such as d/big.img`},
		{[]string{"rm -rf repo"},
			"delete_path", map[string]any{"path": "repo", "recursive": true}, "delete the directory repo with 1 file (73 MB); the history does not keep 1 file above 67 MB, which cannot come back, such as repo/.git/objects/pack"},
		{[]string{"> big.img", "echo x > big.img", "echo x >| big.img", "echo x &> big.img", "truncate -s 0 big.img", "truncate --size=1M big.img", "echo x | tee big.img", "sed -i s/a/b/ big.img", "dd if=small of=big.img", "shred big.img", "cat small >big.img"},
			"write_file", map[string]any{"path": "big.img", "content": "x"}, "overwrite big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"echo x > link", "tee link"}, "write_file", map[string]any{"path": "link", "content": "x"}, "overwrite link (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"mv small big.img", "mv -f small big.img", "mv -T small big.img"}, "move_path", map[string]any{"source": "small", "destination": "big.img", "overwrite": true},
			"move small over big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"cp small big.img", "cp -p small big.img", "install -m 755 small big.img"}, "copy_path", map[string]any{"source": "small", "destination": "big.img", "overwrite": true},
			"copy small over big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"mv big.img d", "mv -t d big.img", "mv big.img d/"}, "move_path", map[string]any{"source": "big.img", "destination": "d/big.img", "overwrite": true},
			"move big.img over d/big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"rm *.img"}, "", nil, "delete a b.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone\n" +
			"delete big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
		{[]string{"rm -rf parts more", "rm parts/* more/*"}, "", nil, ""},
		{[]string{"ln -sf small big.img"}, "", nil, "link small over big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"},
	} {
		if tc.tool != "" {
			if got := s.asks(named(t, all, tc.tool), tc.args); got != tc.want {
				t.Errorf("%s %v asks\n%s\nwant\n%s", tc.tool, tc.args, got, tc.want)
			}
		}
		for _, line := range tc.lines {
			got := s.asks(bash, map[string]any{"command": line})
			if tc.want == "" && strings.HasPrefix(got, "delete or replace parts") && strings.HasSuffix(got, "the history keeps only the first 20000 entries or 537 MB of it; the rest cannot come back") {
				continue
			}
			if got != tc.want {
				t.Errorf("%s asks\n%s\nwant\n%s", line, got, tc.want)
			}
		}
	}
	for _, args := range []map[string]any{
		{"command": "rm big.img", "cwd": "d"}, {"command": "rm d/big.img", "background": true}, {"command": "rm d/big.img", "session": "a"},
	} {
		if got, want := s.asks(bash, args), "delete d/big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone"; got != want {
			t.Errorf("%v asks\n%s\nwant\n%s", args, got, want)
		}
	}
}

// A line of PowerShell asks as one of bash does.
func TestPowerShellLoses(t *testing.T) {
	s := losing(t)
	powershell := named(t, s.all, "powershell")
	const big, never = "big.img (73 MB)", "; the history does not keep files above 67 MB, so it cannot be undone"
	for want, lines := range map[string][]string{
		"delete " + big + never: {
			"Remove-Item big.img", "remove-item -Path big.img -Force", "ri 'big.img'", `del "big.img"`, "Remove-Item small, big.img", "Write-Output x; Remove-Item -LiteralPath big.img -ErrorAction Stop",
			"if (Test-Path big.img) { Remove-Item big.img }", "cd d; Remove-Item ../big.img", "Remove-Item big.* # all", "rm big.img", `Remove-Item .\big.img`, "Get-Item x\nRemove-Item big.img",
		},
		"delete the directory d with 2 files (73 MB); the history does not keep 1 file above 67 MB, which cannot come back, such as d/big.img": {"Remove-Item -Recurse -Force d", "Remove-Item d -r", "rm -rf d"},
		"overwrite " + big + never:           {"Set-Content -Path big.img -Value x", "Set-Content big.img x", "'x' | Out-File big.img", "Clear-Content big.img", "Write-Output x > big.img", "echo x 2> big.img", "New-Item big.img -Force -ItemType File"},
		"move small over " + big + never:     {"Move-Item small big.img -Force", "Move-Item -Path small -Destination big.img -Force"},
		"copy small over " + big + never:     {"Copy-Item small big.img", "Copy-Item small -Destination big.img"},
		"move big.img over d/" + big + never: {"Move-Item big.img d -Force"},
		"": {
			"Remove-Item small", "Remove-Item d", "Remove-Item $x", `Remove-Item "$x/big.img"`, "Remove-Item big.img -WhatIf", "Remove-Item * -Include *.o", "Write-Output 'Remove-Item big.img'", "# Remove-Item big.img", "Move-Item small big.img",
			"'x' | Out-File big.img -Append", "Write-Output x >> big.img", "function f { Remove-Item big.img }", "Remove-Item `\nbig.img", "Remove-Item big.img -Recurse:$false", "New-Item big.img", "Set-Content small big.img", "Remove-Item", "cat big.img 2>&1",
			"Get-ChildItem | Remove-Item", "Remove-Item build -Recurse", "Set-Location $x; Remove-Item big.img", "", "'", `"`, "> ", "Remove-Item '",
		},
	} {
		for _, line := range lines {
			if got := s.asks(powershell, map[string]any{"command": line + " "}); got != want {
				t.Errorf("%s asks\n%s\nwant\n%s", line, got, want)
			}
		}
	}
}

// git clean asks about what git does not track.
func TestCleanLoses(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs: git")
	}
	s := losing(t)
	dir := s.host(".")
	s.tree(dir, map[string]int64{"d/new/big.img": 70, "d/ignored.tmp": 70, "tracked.img": 70})
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("build/\n*.tmp\nparts\nmore\nrepo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "-c", "init.defaultBranch=main", "init", "-q")
	cmd.Dir = dir
	add := exec.CommandContext(t.Context(), "git", "add", "small", "d/small", "tracked.img")
	add.Dir = dir
	if err := errors.Join(cmd.Run(), add.Run()); err != nil {
		t.Fatal(err)
	}
	const why = "the history does not keep %s above 67 MB, which cannot come back, such as %s"
	asks := func(line, where, files, lost, first string) {
		t.Helper()
		want := ""
		if files != "" {
			want = "delete what git does not track below " + where + ", with " + files + "; " + fmt.Sprintf(why, lost, first)
		}
		if got := s.asks(named(t, s.all, "bash"), map[string]any{"command": line}); got != want {
			t.Errorf("%s asks\n%s\nwant\n%s", line, got, want)
		}
	}
	asks("git clean -f d", "d", "1 file (73 MB)", "1 file", "d/big.img")
	asks("cd d && git clean -qf", "d", "1 file (73 MB)", "1 file", "d/big.img")
	asks("git -C d clean -f -d", "d", "2 files (147 MB)", "2 files", "d/big.img")
	asks("git clean -dxf d", "d", "3 files (220 MB)", "3 files", "d/big.img")
	asks("git clean -fd d/new", "d/new", "1 file (73 MB)", "1 file", "d/new/big.img")
	asks("git clean -f", ".", "6 files (294 MB)", "4 files", ".hidden.img")
	for _, line := range []string{"git clean -nfd", "git clean -d", "git clean -fX", "git clean -f d/new", "git clean -f small", "git clean -f -e '*.img'", "git clean -f build", "git clean -f none"} {
		asks(line, "", "", "", "")
	}
}

// A line for a shell that waits at its prompt asks as a command does.
func TestInputLoses(t *testing.T) {
	t.Parallel()
	s := losing(t)
	text := s.call(t.Context(), "bash", map[string]any{"command": "PS1='$ ' exec bash --norc --noprofile -i", "cwd": "d", "terminal": true})
	if strings.Contains(text, "no terminal") {
		t.Skip("needs: a sandbox with terminals")
	}
	input := named(t, s.all, "job_input")
	for line, want := range map[string]string{
		"rm big.img\n":  "delete d/big.img (73 MB); the history does not keep files above 67 MB, so it cannot be undone",
		"rm small\n":    "",
		"rm ../none\n":  "",
		"rm big.img":    "",
		"cat big.img\n": "",
	} {
		if got := s.asks(input, map[string]any{"text": line}); got != want {
			t.Errorf("%q asks %q, want %q", line, got, want)
		}
	}
	if got := s.asks(input, map[string]any{"job": "nowhere", "text": "rm big.img\n"}); got != "" {
		t.Errorf("for no job it asks %q", got)
	}
	s.want(s.call(t.Context(), "job_stop", nil), `stopped`)
}

// What a job loses after its call is said once.
func TestLostByJob(t *testing.T) {
	t.Parallel()
	s := losing(t)
	s.call(t.Context(), "bash", map[string]any{"command": "x=$(echo big); read; rm $x.img; echo gone", "input": true})
	text := s.call(t.Context(), "job_input", map[string]any{"text": "\n", "until": "gone"})
	for _, wait := range []string{"50s", "0s"} {
		text += s.call(t.Context(), "job_output", map[string]any{"wait": wait})
	}
	if n := strings.Count(text, "\ncannot be undone: big.img is not kept: it is larger than 67 MB\n"); n != 1 {
		t.Errorf("said %d times: %s", n, text)
	}
}

// A command does not ask about what can be undone, what git ignores, and what it does not lose.
func TestLosesNothing(t *testing.T) {
	s := losing(t)
	bash := named(t, s.all, "bash")
	outside := filepath.Join(t.TempDir(), "big.img")
	s.tree(filepath.Dir(outside), map[string]int64{"big.img": 70})
	for _, line := range []string{
		"rm small", "rm -rf parts", "rm -rf build", "rm build/big.img", "rm -rf build/sub mixed", "> build/big.img", "find build -delete", "find . -name '*.o' -delete",
		"rm d", "rmdir d", "rm none.img", "rm -rf none", "rm " + outside, "rm ../ws2/big.img", "echo x >> big.img", "echo x | tee -a big.img", "cat < big.img", "exec 3<> big.img",
		"truncate -s +1M big.img", "dd if=small of=big.img oflag=append conv=notrunc", "sed s/a/b/ big.img", "sed -i.bak s/a/b/ big.img", "cp big.img new", "mv big.img new", "cp -n small big.img",
		"mv -n small big.img", "mv -b small big.img", "ln -s small big.img", "install -d big.img", "touch big.img", "chmod 600 big.img", "mkdir big.img", "echo rm big.img", "echo 'rm big.img'",
		"cat big.img", `rm "$x"`, "rm $x", "f=big.img rm $f", "f=small; f+=x; rm $f", "f=big.img; read f; rm $f", "(f=big.img); rm $f", `f="big.img small"; rm "$f"`, `f='*.img'; rm "$f"`,
		"for f in $(ls); do rm $f; done", "for f in big.img; do echo $f; done; rm $f", "for f in big.img small; do mv small $f; done", "echo big.img | xargs ls", "echo -n big.img | xargs echo rm", "ls | xargs rm",
		"find d -name '*.o' -delete", "find d -name 'b*' -newer small -delete", "find d -name 'b*'", "find d ! -name 'b*' -delete", "find d -name 'b*' -exec cat {} +", "find d -iname 'b*' -delete",
		"rm .*.png", "rm -rf -- */none", "./rm big.img", "git rm big.img", "cp -r d none", "mv small d", "f() { rm big.img; }",
		`a=(big.img); a[0]=small; rm "${a[@]}"`, `a=(big.img); a=small; rm "${a[@]}"`, `rm "${a[@]}"`, `f() { shift; rm "$1"; }; f big.img small`, `f() { rm "$1"; }; f small big.img`, `rm "$1"`,
		`d=$PWD; cd d; rm "$d/small"`, `f() { f; f; f; f; f; f; f; f; }; f`, "git clean -fdx",
	} {
		if got := s.asks(bash, map[string]any{"command": line}); got != "" {
			t.Errorf("%s asks\n%s", line, got)
		}
	}
	s.engine.Configure(sandbox.Options{Unrecorded: true})
	if got := s.asks(bash, map[string]any{"command": "rm big.img"}); got != "" {
		t.Errorf("without the history of programs it asks\n%s", got)
	}
}
