package security

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/workspace/redact"
)

// planted is a secret and the name that it has in the environment; "" where it is
// not known to the server and only looks like one.
type planted struct{ variable, value string }

// plant returns 50 secrets, half of them known, those that are written on command lines,
// and those that are typed at prompts.
func plant() (list, commands, typed []planted) {
	rnd := rand.New(rand.NewPCG(50, 1))
	text := func(n int, chars string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = chars[rnd.IntN(len(chars))]
		}
		return string(b)
	}
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	list = []planted{{"TOOLCRIB_TOKEN", text(40, alnum)}}
	for i := len(list); i < 25; i++ {
		ends := []string{"TOKEN", "KEY", "SECRET", "PASSWORD"}
		list = append(list, planted{fmt.Sprintf("PLANTED_%d_%s", i, ends[i%4]), text(12+i, alnum+`-_!@*+/=\"&%`)})
	}
	for i := len(list); i < 50; i++ {
		looks := []string{
			"ghp_" + text(36, alnum), "AKIA" + text(16, alnum[:26]), "sk-" + "proj-" + text(40, alnum) + "0", "xoxb-" + text(24, alnum) + "1",
			"AIza" + text(35, alnum),
		}
		list = append(list, planted{"", looks[i%len(looks)]})
	}
	commands = commandSecrets(text)
	for range prompts {
		typed = append(typed, planted{"", text(8, alnum[26:52]) + "-" + text(5, alnum[26:52])})
	}
	return list, commands, typed
}

// formsOf returns how a secret may be written, of base64 the characters that hold it alone.
func formsOf(s string) map[string]string {
	forms := map[string]string{}
	for _, e := range encodings {
		if !strings.HasPrefix(e.name, "base64") {
			forms[e.name] = strings.TrimRight(e.write(s), "=")
		}
	}
	for before := range 3 {
		for name, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 of URLs": base64.RawURLEncoding} {
			text := enc.EncodeToString(append(make([]byte, before), s...))
			forms[name+" after "+strconv.Itoa(before)] = text[(before*8+5)/6 : (before+len(s))*8/6]
		}
	}
	return forms
}

// sink keeps what is written to it, by several goroutines.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// Secrets plants secrets in arguments, environment, file contents, URLs and error
// texts, makes calls, and looks for them in all that leaves the server except its
// answers.
func Secrets(ctx context.Context, env harness.Environment) error {
	base, err := os.MkdirTemp("", "secrets")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	root, auditDir := filepath.Join(base, "root"), filepath.Join(base, "audit")
	if err := os.Mkdir(root, 0o700); err != nil {
		return err
	}
	all, commands, typed := plant()
	commands = commands[:env.Of(len(commands), len(commandForms))]
	var traces sink
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(&traces, r.Body) }))
	defer collector.Close()
	page, err := freeAddress()
	if err != nil {
		return err
	}
	variables := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_METRIC_EXPORT_INTERVAL": "200",
	}
	for _, s := range all {
		if s.variable != "" {
			variables[s.variable] = s.value
		}
	}
	for name, value := range variables { // the server gets the environment of this program
		if err := os.Setenv(name, value); err != nil {
			return err
		}
		defer func() { _ = os.Unsetenv(name) }() // it was set
	}
	var log sink
	config := filepath.Join(base, "config.json")
	if err := os.WriteFile(config, []byte(`{"hooks":[{"builtin":"log"}]}`), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, env.Binary, "serve", "--config="+config, "--log-level=debug", "--audit", "--audit-dir="+auditDir, "--state-dir="+filepath.Join(base, "state"), "--metrics="+page, root)
	cmd.Stderr = &log
	server, err := harness.UseCommand(cmd)
	if err != nil {
		return fmt.Errorf("%w: %s", err, log.String())
	}
	calls, err := spillAll(env, server, root, all, commands, typed)
	if err != nil {
		return err
	}
	time.Sleep(time.Second) // the exporters have their turn
	metrics, err := fetch(ctx, "http://"+page+"/metrics")
	if err != nil {
		return err
	}
	if err := server.Close(); err != nil {
		return err
	}
	audit, err := allOf(auditDir)
	if err != nil {
		return err
	}
	kept, err := allOf(filepath.Join(base, "state"), "objects") // which are the former contents of the user's files
	if err != nil {
		return err
	}
	fmt.Printf("%d secrets in arguments, in %d encodings; %d command lines, of %d forms in %d ways; %d typed at prompts\n",
		len(all), len(encodings), len(commands), len(commandForms), len(ways), len(typed))
	fmt.Printf("in the state: not the names of files, which the history has\nfound: %s\nnot looked for: %s\nnot told apart on command lines: %s\n\n", strings.Join(redact.Encodings(), "; "), strings.Join(redact.NotCovered(), "; "), commandsNotCovered)
	named := len(all) // files too, whose names the history has
	all = slices.Concat(all, commands, typed)
	fmt.Printf("| %d planted secrets, %d calls | bytes | secrets found |\n|---|---|---|\n", len(all), calls)
	var leaks error
	for _, o := range []struct{ name, text string }{{"audit", audit}, {"log", log.String()}, {"metrics", metrics}, {"traces", traces.String()}, {stateName, kept}} {
		found := 0
		for i, s := range all {
			if i < named && o.name == stateName {
				continue
			}
			for form, text := range formsOf(s.value) {
				if strings.Contains(o.text, text) {
					found++
					leaks = errors.Join(leaks, fmt.Errorf("secret %d (%s) is in the %s as %s", i, placeOf(i-named, len(commands)), o.name, form))
				}
			}
		}
		fmt.Printf("| %s | %d | %d |\n", o.name, len(o.text), found)
		if o.text == "" && o.name != "log" {
			leaks = errors.Join(leaks, fmt.Errorf("nothing was written to the %s", o.name))
		}
	}
	return leaks
}

// stateName is what else the server keeps. The history has the names of files that were
// changed, whatever they are: it is for bringing them back.
const stateName = "state and index of the history"

// placeOf says where a secret was planted that is not among the arguments at large.
func placeOf(i, commands int) string {
	switch {
	case i < 0:
		return "arguments"
	case i < commands:
		return commandForms[i%len(commandForms)].name + ", " + ways[i/len(commandForms)].name
	}
	return prompts[i-commands].name
}

// spillAll makes all calls, and returns how many.
func spillAll(env harness.Environment, u *harness.ToolUser, root string, all, commands, typed []planted) (int, error) {
	if err := os.Mkdir(filepath.Join(root, "n"), 0o700); err != nil {
		return 0, err
	}
	sum, err := spill(u, root, all)
	for _, f := range []func() (int, error){
		func() (int, error) { return sendEncoded(u, all[:env.Of(len(all), 5)]) },
		func() (int, error) { return runCommands(u, commands) },
		func() (int, error) { return typeSecrets(u, typed) },
	} {
		if err != nil {
			break
		}
		var n int
		n, err = f()
		sum += n
	}
	return sum, err
}

// spill makes calls with each secret in each place, and returns how many.
func spill(u *harness.ToolUser, root string, all []planted) (int, error) {
	calls := 0
	for i, s := range all {
		name := "notes" + strconv.Itoa(i) + ".txt"
		if err := os.WriteFile(filepath.Join(root, name), []byte("before\n"+s.value+"\nafter\n"), 0o600); err != nil {
			return calls, err
		}
		dir := strings.NewReplacer("/", "_", `\`, "_").Replace(s.value)
		for _, call := range []struct {
			tool string
			args map[string]any
		}{
			{"read_file", map[string]any{"path": name}},
			{"write_file", map[string]any{"path": "out" + name, "content": "password=" + s.value}},
			{"grep", map[string]any{"pattern": "before", "path": name}},
			{"glob", map[string]any{"pattern": []string{s.value}}},
			{"read_file", map[string]any{"path": s.value + "/missing"}},
			{"read_file", map[string]any{"path": "https://user:" + s.value + "@example.com/x"}},
			{"write_file", map[string]any{"path": name, "content": s.value, "expected_hash": s.value}},
			{"write_file", map[string]any{"path": dir, "content": "x"}},
			{"read_file", map[string]any{"path": encoded(s)}},
			{s.value, map[string]any{"token": s.value}},
		} {
			calls++
			if _, err := u.Use(call.tool, call.args); err != nil && call.tool != s.value { // an unknown tool is an error of the protocol
				return calls, err
			}
		}
	}
	return calls, nil
}

// encoded returns a known secret in base64, among other text. One that only looks
// like a secret does not do so there, and comes as it is.
func encoded(s planted) string {
	if s.variable == "" {
		return s.value
	}
	return base64.StdEncoding.EncodeToString([]byte("user:" + s.value))
}

// freeAddress returns an address of this machine that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func fetch(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return string(data), err
}

// allOf returns what the files of a directory hold, one behind another, but for what lies
// in directories of some names.
func allOf(dir string, but ...string) (string, error) {
	var parts []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(but, d.Name()) {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		parts = append(parts, string(data))
		return err
	})
	return strings.Join(slices.Clip(parts), "\n"), err
}
