package cli_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolcrib/server/cli"
	"toolcrib/server/run"
	"toolcrib/tools/catalog"
)

// pythons is a project and the virtual environments in its parent directory.
type pythons struct {
	env     []string
	project string
}

// venv makes a virtual environment that has a package of its own.
func (p pythons) venv(t *testing.T, dir string) (interpreter string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		t.Skipf("needs: python3 -m venv: %v %s", err, out)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "lib", "python3*", "site-packages"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("%v %v", packages, err)
	}
	write(t, filepath.Join(packages[0], "ownpackage.py"), "name = 'from "+filepath.Base(dir)+"'\n")
	return filepath.Join(dir, "bin", "python")
}

// toolcrib runs the program with the tools that it has.
func (p pythons) toolcrib(t *testing.T, args ...string) string {
	t.Helper()
	caller := new(run.Caller)
	var out bytes.Buffer
	cli.Main(t.Context(), cli.Process{
		Args: args, Environ: append([]string{"TOOLCRIB_STATE_DIR=" + t.TempDir()}, p.env...),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		IsTerminal: func(any) bool { return false }, LookPath: exec.LookPath,
		Caller: caller, Categories: catalog.All(&catalog.Services{Caller: caller}),
	})
	return out.String()
}

// python runs a script and returns what it prints.
func (p pythons) python(t *testing.T, code string, flags ...string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"code": code, "timeout": "60s"})
	if err != nil {
		t.Fatal(err)
	}
	return p.toolcrib(t, append([]string{"call", "run_python", string(args), p.project}, flags...)...)
}

// TestVirtualEnvironment configures one in each way, outside of the workspace, where
// programs see nothing else, and inside of it, where they may change it.
func TestVirtualEnvironment(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	const which = "import ownpackage\nownpackage.name"
	p := pythons{project: inProject(t)}
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret\n")
	interpreter := p.venv(t, filepath.Join(outside, "env"))
	inside := p.venv(t, filepath.Join(p.project, "own"))
	file := filepath.Join(outside, "config.yaml")
	write(t, file, "python: env/bin/python\n")

	if got := p.python(t, which); !strings.Contains(got, "ModuleNotFoundError") || !strings.Contains(got, "--python of the server") {
		t.Errorf("without: %s", got)
	}
	for _, c := range []struct {
		name, want string
		env, flags []string
	}{
		{"a flag", "from env", nil, []string{"--python=" + interpreter}},
		{"a relative flag", "from own", nil, []string{"--python=own/bin/python"}},
		{"a variable", "from env", []string{"TOOLCRIB_PYTHON=" + interpreter}, nil},
		{"the configuration", "from env", nil, []string{"--config=" + file}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p
			p.env = c.env
			if got := p.python(t, which, c.flags...); !strings.HasPrefix(got, "ok in") || !strings.Contains(got, c.want) {
				t.Errorf("it runs %s", got)
			}
			named := interpreter
			if c.want == "from own" {
				named = "own/bin/python"
			}
			got := p.toolcrib(t, append([]string{"config", "show", p.project}, c.flags...)...)
			if !regexp.MustCompile(`(?m)^python +\S.* ` + regexp.QuoteMeta(named) + "$").MatchString(got) {
				t.Errorf("config show: %s", got)
			}
		})
	}
	for name, code := range map[string]string{
		"a file outside": "open(" + quoted(filepath.Join(outside, "secret")) + ")",
		"writing to it":  "open(" + quoted(filepath.Join(outside, "env", "pyvenv.cfg")) + ", 'a')",
	} {
		if got := p.python(t, code, "--python="+interpreter); !strings.HasPrefix(got, "exit 1") || !strings.Contains(got, "Error: [Errno") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := p.python(t, "open('own/lib/new.py', 'w').write('1')", "--python="+inside); !strings.HasPrefix(got, "ok in") {
		t.Errorf("writing to one of the workspace: %s", got)
	}
}

func quoted(text string) string {
	data, _ := json.Marshal(text) // text always can be
	return string(data)
}

// TestMissingPython names the interpreter that is configured, and the way to another.
func TestMissingPython(t *testing.T) {
	p := pythons{project: inProject(t)}
	none := filepath.Join(p.project, "none")
	plain := filepath.Join(p.project, "plain")
	write(t, plain, "no program\n")
	for path, want := range map[string]string{
		none:  none + ": no such file or directory): install Python 3.8 or later",
		plain: plain + ": permission denied): install Python 3.8 or later",
	} {
		for _, got := range []string{p.python(t, "1", "--python="+path), p.toolcrib(t, "list", "--all", "--python="+path)} {
			if !strings.Contains(got, want) {
				t.Errorf("want %s: %s", want, got)
			}
		}
	}
}
