package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"toolcrib/server/config"
	"toolcrib/tools/catalog"
)

type demo struct{ config.Config }

func demoCommand() command {
	return command{
		name:  "demo",
		args:  "[DIR]",
		short: "show a client's session with the server, on a real directory",
		long: `
Starts the server as a client does, as a subprocess that speaks over stdin and
stdout, makes some calls in DIR (else the current directory) and shows what a
model would get. It only reads. At the end it prints how to set a client up.`,
		new: func() runner { return new(demo) },
	}
}

// shown is how many lines of a result the transcript shows.
const shown = 8

func (d *demo) run(ctx context.Context, p *Process, args []string) error {
	roots, err := rootsOf(args)
	if err != nil {
		return err
	}
	l := launchOf(d.Config, roots)
	c, err := connect(ctx, l, p.Stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "$ %s\n", l.line())
	if err := errors.Join(d.session(p.Stdout, c), c.close()); err != nil {
		return fmt.Errorf("the session: %w", err)
	}
	fmt.Fprintf(p.Stdout, "\nThat was a whole session over stdin and stdout. Next:\n\n")
	next, err := p.setUp(l)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, next)
	return err
}

func (d *demo) session(w io.Writer, c *conversation) error {
	var hello struct {
		ServerInfo      struct{ Name, Version string }
		ProtocolVersion string
	}
	took, err := c.request("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "toolcrib demo", "version": moduleVersion()},
	}, &hello)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n→ initialize\n← %s %s, protocol %s (%s)\n", hello.ServerInfo.Name, hello.ServerInfo.Version, hello.ProtocolVersion, took)
	if err := c.notify("notifications/initialized"); err != nil {
		return err
	}
	var list struct{ Tools []struct{ Name string } }
	if took, err = c.request("tools/list", map[string]any{}, &list); err != nil {
		return err
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	fmt.Fprintf(w, "\n→ tools/list\n← %d tools: %s (%s)\n", len(names), strings.Join(names, ", "), took)
	newest := ""
	for _, call := range []struct{ tool, args string }{
		{catalog.ShownList, `{"path": "."}`},
		{catalog.ShownFind, `{"pattern": ["**"], "sort": "newest", "limit": 3}`},
		{catalog.ShownSearch, `{"pattern": "TODO|FIXME|func |def |class |function ", "limit": 3}`},
		{catalog.ShownRead, ""},
		{catalog.ShownRead, `{"path": "../../../../../../etc/passwd"}`},
	} {
		if call.args == "" {
			if newest == "" {
				continue
			}
			path, err := json.Marshal(newest)
			if err != nil {
				return err
			}
			call.args = fmt.Sprintf(`{"path": %s, "limit": 5}`, path)
		}
		text, took, err := c.call(call.tool, json.RawMessage(call.args))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n→ %s %s\n%s  (%s)\n", call.tool, call.args, excerpt(text), took)
		if lines := strings.Split(text, "\n"); call.tool == catalog.ShownFind && len(lines) > 1 {
			newest = lines[1]
		}
	}
	return nil
}

// excerpt marks the lines of a result and leaves out those that are too many to show.
func excerpt(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	rest := len(lines) - shown
	var b strings.Builder
	for i, line := range lines {
		if i == shown {
			fmt.Fprintf(&b, "← ... %d more lines, not shown here\n", rest)
			break
		}
		if r := []rune(line); len(r) > 100 {
			line = string(r[:100]) + " ..."
		}
		fmt.Fprintf(&b, "← %s\n", line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// conversation is a client's side of a session: one request at a time.
type conversation struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	id    int
}

func connect(ctx context.Context, l launch, stderr io.Writer) (*conversation, error) {
	cmd := exec.CommandContext(ctx, l.Command, l.Args...)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &conversation{cmd: cmd, in: in, lines: bufio.NewReader(out)}, cmd.Start()
}

// close ends the session as a client does, by ending the server's input.
func (c *conversation) close() error {
	return errors.Join(c.in.Close(), c.cmd.Wait())
}

func (c *conversation) notify(method string) error {
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","method":%q}`+"\n", method)
	return err
}

func (c *conversation) request(method string, params, result any) (time.Duration, error) {
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return 0, err
	}
	answer, err := c.lines.ReadBytes('\n')
	if err != nil {
		return 0, fmt.Errorf("%s: %w", method, err)
	}
	took := time.Since(begin).Round(10 * time.Microsecond)
	var m struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return 0, fmt.Errorf("%s: %w", method, err)
	}
	if m.Error != nil {
		return 0, fmt.Errorf("%s: %s", method, m.Error.Message)
	}
	return took, json.Unmarshal(m.Result, result)
}

func (c *conversation) call(tool string, args json.RawMessage) (string, time.Duration, error) {
	var result struct{ Content []struct{ Text string } }
	took, err := c.request("tools/call", map[string]any{"name": tool, "arguments": args}, &result)
	if err != nil || len(result.Content) == 0 {
		return "", took, err
	}
	return result.Content[0].Text, took, nil
}
