package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/workspace/state/postgres"
)

// Runs lets agents work in the background over three processes, of which one is killed again and
// again, on both databases: all runs end, no effect is doubled, and one that is missing was
// reported to its agent: as unknown, or as cancelled since another process goes on.
func Runs(ctx context.Context, env harness.Environment) error {
	return errors.Join(
		killed(ctx, env, "SQLite", ""),
		harness.WithPostgres(ctx, func(server *postgres.Server) error { return killed(ctx, env, "PostgreSQL", server.URL()) }),
	)
}

// apart is about how long after each other processes are killed.
const apart = 1500 * time.Millisecond

// killed takes the figure on one database. When all runs have ended, as many begin anew.
func killed(ctx context.Context, env harness.Environment, name, url string) error {
	w := &workers{binary: env.Binary, url: url, model: &toyModel{asked: time.Now(), rounds: env.Of(12, 3), think: time.Duration(env.Of(3000, 100)) * time.Millisecond, ended: map[string]bool{}, said: map[string]string{}}}
	dir, remove, err := harness.Temporary("runs")
	if err != nil {
		return err
	}
	defer remove()
	if err := w.open(ctx, dir); err != nil {
		return err
	}
	defer w.close()
	agents, wave := 0, env.Of(16, 4)
	var running [3]*exec.Cmd
	defer func() {
		for _, cmd := range running {
			if cmd != nil && cmd.Process != nil {
				_ = cmd.Process.Kill() // after an error it is still at work
				_ = cmd.Wait()
			}
		}
	}()
	for i := range running {
		if running[i], err = w.start(ctx); err != nil {
			return err
		}
	}
	begin, kills := time.Now(), env.Of(100, 2)
	for range kills {
		if w.model.left(agents) == 0 {
			if err := w.begin(ctx, agents, wave); err != nil {
				return err
			}
			agents += wave
		}
		time.Sleep(apart/2 + rand.N(apart)) // while they work
		victim := rand.IntN(len(running))
		_ = running[victim].Process.Kill()
		_ = running[victim].Wait()
		if running[victim], err = w.start(ctx); err != nil {
			return err
		}
	}
	for w.model.left(agents) > 0 && w.model.quiet() < 2*time.Minute {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second) // for the last record
	for _, cmd := range running {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	return w.count(ctx, name, agents, kills, time.Since(begin))
}

// workers are processes that go on with each other's runs.
type workers struct {
	binary, url      string
	root, base, conf string
	model            *toyModel
	server           *http.Server
	log              *os.File
}

func (w *workers) open(ctx context.Context, dir string) error {
	w.root, w.base, w.conf = filepath.Join(dir, "root"), filepath.Join(dir, "state"), filepath.Join(dir, "config.yaml")
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.server = &http.Server{Handler: w.model, ReadHeaderTimeout: time.Minute}
	go w.server.Serve(listener) //nolint:errcheck // it ends with close
	conf := fmt.Sprintf("agents: {models: {toy: {url: \"http://%s/v1\", model: toy}}}\n", listener.Addr())
	if err := errors.Join(os.Mkdir(w.root, 0o700), os.WriteFile(w.conf, []byte(conf), 0o600)); err != nil {
		return err
	}
	w.log, err = os.Create(filepath.Join(dir, "log"))
	return err
}

func (w *workers) close() {
	_ = w.server.Close()
	_ = w.log.Close()
}

func (w *workers) program(ctx context.Context, command string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.binary, append(append(strings.Fields(command), "--state-dir", w.base, "--config", w.conf), args...)...)
	cmd.Env = append(os.Environ(), "TOOLCRIB_DATABASE="+w.url)
	return cmd
}

// begin begins runs in the background, with numbers from first on.
func (w *workers) begin(ctx context.Context, first, many int) error {
	for i := range many {
		args, err := json.Marshal(map[string]any{"task": fmt.Sprintf("run %d.", first+i), "tools": []string{"bash"}, "max_rounds": 50, "timeout": "50m", "max_tokens": 10_000_000, "background": true})
		if err != nil {
			return err
		}
		for again := 0; ; again++ {
			out, err := w.program(ctx, "call", "--confirm", "client", "run_agent", string(args), w.root).CombinedOutput()
			late := notNow.FindSubmatch(out)
			if err == nil || again > 0 && strings.Contains(string(out), "conflict: ") { // it has begun all the same
				break
			}
			if late == nil || again == 10 {
				return fmt.Errorf("run_agent: %w: %s", err, out)
			}
			args = fmt.Appendf(nil, `{"resume":{"run":%q},"tools":["bash"],"max_rounds":50,"timeout":"50m","max_tokens":10000000,"background":true}`, late[1])
		}
	}
	return nil
}

// notNow is how a machine says that it is too busy to begin a run in the background.
var notNow = regexp.MustCompile(`unavailable: run (\w+) cannot go on in the background at the moment`)

// start starts a process that has no client and only goes on with what is there.
func (w *workers) start(ctx context.Context) (*exec.Cmd, error) {
	cmd := w.program(ctx, "schedule run", w.root)
	cmd.Stderr = w.log
	return cmd, cmd.Start()
}

// count compares the effects with what the agents were told.
func (w *workers) count(ctx context.Context, name string, agents, kills int, took time.Duration) error {
	text, err := os.ReadFile(filepath.Join(w.root, "effects"))
	if err != nil {
		return err
	}
	done := map[string]int{}
	doubled := 0
	for effect := range strings.FieldsSeq(string(text)) {
		if done[effect]++; done[effect] > 1 {
			doubled++
		}
	}
	w.model.mu.Lock()
	defer w.model.mu.Unlock()
	lost, told, reports := 0, "", 0
	for _, text := range w.model.said {
		if reported(text) {
			reports++
		}
	}
	for i := range agents {
		if !w.model.ended[fmt.Sprint(i)] {
			continue
		}
		for round := range w.model.rounds {
			for _, which := range []string{"a", "b"} {
				if effect := fmt.Sprintf("%d.%d.%s", i, round, which); done[effect] == 0 && !reported(w.model.said[effect]) {
					lost++
					told += fmt.Sprintf("%s: the agent was told %q\n", effect, w.model.said[effect])
				}
			}
		}
	}
	fmt.Printf("%s: %d runs of %d rounds over 3 processes, %d killed in %s: %d ended, %d effects, %d doubled, %d reported as unknown or cancelled, %d lost without a report\n",
		name, agents, w.model.rounds, kills, took.Round(time.Second), len(w.model.ended), len(done), doubled, reports, lost)
	if doubled > 0 || lost > 0 || len(w.model.ended) < agents {
		said, _ := os.ReadFile(w.log.Name())
		stand, _ := w.program(ctx, "run list", "--root", w.root).CombinedOutput()
		return fmt.Errorf("%s: effects were doubled or lost, or runs did not end: %s%s\n%s", name, told, stand, harness.Brief(string(said)))
	}
	return nil
}

// toyModel lets each run make two effects a round, which it finds in the conversation: so its
// answers are the same in every process.
type toyModel struct {
	rounds int
	think  time.Duration // at most, before an answer

	mu    sync.Mutex
	asked time.Time         // last
	ended map[string]bool   // by run
	said  map[string]string // to the run, by effect
}

// reported reports whether a result tells that nobody knows what its call has done.
func reported(result string) bool {
	return strings.Contains(result, "outcome unknown") || strings.Contains(result, "another process goes on with the run; what the call had done by then stays")
}

// left returns how many runs have not ended.
func (m *toyModel) left(agents int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return agents - len(m.ended)
}

// quiet returns how long no run has asked.
func (m *toyModel) quiet() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.asked)
}

var runOf = regexp.MustCompile(`run (\d+)\.`)

func (m *toyModel) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
			Call    string `json:"tool_call_id"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(rand.N(m.think)):
	case <-r.Context().Done():
		return
	}
	run, round := "", 0
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = time.Now()
	for _, message := range in.Messages {
		text := fmt.Sprint(message.Content)
		switch {
		case message.Role == "user" && run == "":
			if found := runOf.FindStringSubmatch(text); found != nil {
				run = found[1]
			}
		case message.Role == "assistant":
			round++
		case message.Role == "tool":
			m.said[message.Call] = text
		}
	}
	answer := map[string]any{"content": "done"}
	if round < m.rounds {
		var calls []map[string]any
		for _, which := range []string{"a", "b"} {
			effect := fmt.Sprintf("%s.%d.%s", run, round, which)
			args, _ := json.Marshal(map[string]any{"command": "sleep 0.1; echo " + effect + " >> effects; sleep 0.1"})
			calls = append(calls, map[string]any{"id": effect, "type": "function", "function": map[string]any{"name": "bash", "arguments": string(args)}})
		}
		answer = map[string]any{"content": nil, "tool_calls": calls}
	} else {
		m.ended[run] = true
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{
		"choices": []any{map[string]any{"message": answer, "finish_reason": "stop"}}, "usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
	})
}
