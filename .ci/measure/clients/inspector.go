package clients

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Inspector lists and calls through the Inspector in every era over both
// transports, and has it lint the schemas.
func Inspector(ctx context.Context, env harness.Environment) error {
	fmt.Println("| Inspector CLI | era | list | call | strict | resources | prompts |\n|---|---|---|---|---|---|---|")
	for _, transport := range transports {
		b, err := newBench(ctx, env, transport)
		if err != nil {
			return err
		}
		for _, era := range []string{"legacy", "auto", "modern"} {
			if err = inspect(ctx, env, b, era); err != nil {
				err = fmt.Errorf("%s: %s: %w", transport, era, err)
				break
			}
			fmt.Printf("| %s | %s | ok | ok | no finding | ok | ok |\n", transport, era)
		}
		if err := errors.Join(err, b.close()); err != nil {
			return err
		}
	}
	return nil
}

func inspect(ctx context.Context, env harness.Environment, b *bench, era string) error {
	at := b.servers["catalog"]
	target := append([]string{at.Command}, at.Args...)
	if at.URL != "" {
		target = []string{"--transport", "http", "--server-url", at.URL, "--header", "Authorization: Bearer " + at.Token}
	}
	run := func(args ...string) (string, error) {
		args = append([]string{env.NPM(".bin/mcp-inspector"), "--cli"}, args...)
		args = append(args, "--protocol-era", era, "--format", "json") // here, since some of args would swallow the target
		return env.Node(ctx, b.dir, nil, append(args, target...)...)
	}
	list, err := run("--method", "tools/list", "--strict")
	if err := wants("tools/list", `"read_file"`, list, err); err != nil {
		return err
	}
	if strings.Contains(strings.ToLower(list), "warning") {
		return fmt.Errorf("tools/list: %s", list)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"hello, world", []string{"--method", "tools/call", "--tool-name", "read_file", "--tool-args-json", `{"path":"hello.txt"}`}},
		{"not asked", []string{"--method", "tools/call", "--tool-name", "ask_user", "--tool-args-json", `{"question":"Which?","options":["Red","Blue"]}`}},
		{"hello.txt", []string{"--method", "resources/list"}},
		{"file://", []string{"--method", "resources/templates/list"}},
		{"hello, world", []string{"--method", "resources/read", "--uri", "file://" + filepath.ToSlash(filepath.Join(b.dir, "hello.txt"))}},
		{"find_where", []string{"--method", "prompts/list"}},
		{"greetings", []string{"--method", "prompts/get", "--prompt-name", "find_where", "--prompt-args", "what=greetings"}},
	} {
		out, err := run(c.args...)
		if err := wants(c.args[1], c.want, out, err); err != nil {
			return err
		}
	}
	return nil
}
