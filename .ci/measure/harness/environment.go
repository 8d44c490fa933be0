// Package harness is what the figures share: the programs that are measured, clients
// of them, directories, memory and statistics.
//
// Start at [Environment], then [Dial] and [UseTools] for servers on stdio and [Listen]
// for those over HTTP. It imports no figure and nothing else of toolcrib.
package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Environment is where the programs are.
type Environment struct {
	Binary string  // toolcrib
	Cache  string  // peers and trees, made by .ci/install
	State  string  // state directory of servers that need none of their own
	Scale  float64 // 1 = full size
	Seed   uint64  // of a figure that is to be done again, where it takes one; 0 = a new one
}

// Of scales a count, at least to low.
func (e Environment) Of(full, low int) int { return max(int(float64(full)*e.Scale), low) }

// Full reports whether speed and memory are judged: a quick run is too short.
func (e Environment) Full() bool { return e.Scale >= 1 }

// NewSeed returns a seed for a figure's random choices, and prints it so that they can be
// repeated.
func NewSeed() uint64 {
	seed := uint64(time.Now().UnixNano())
	fmt.Printf("seed %d\n", seed)
	return seed
}

// Program is a server that serves files below a directory on stdio.
type Program struct {
	Name string
	Args []string
}

// Toolcrib is the server that is measured.
func (e Environment) Toolcrib(dir string) Program {
	return Program{"toolcrib", []string{e.Binary, "--state-dir", e.State, dir}}
}

// Peer is the server that toolcrib is compared with.
func (e Environment) Peer(dir string) Program {
	return Program{"server-filesystem", []string{"node", e.NPM("@modelcontextprotocol/server-filesystem/dist/index.js"), dir}}
}

// Writer is toolcrib with leave to change what is below dir. Its state is in
// dir.state.
func (e Environment) Writer(dir string, flags ...string) Program {
	args := append([]string{e.Binary, "serve", "--confirm", "client", "--state-dir", dir + ".state"}, flags...)
	return Program{"toolcrib", append(args, dir)}
}

// NPM returns the file of an npm package, by its path below node_modules.
func (e Environment) NPM(path string) string {
	return filepath.Join(e.Cache, "npm", "node_modules", filepath.FromSlash(path))
}

// Node runs a node program of the cache and returns its output.
func (e Environment) Node(ctx context.Context, dir string, vars []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.NPM(".bin/node"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), vars...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// StartNode starts a node program of the cache, which end ends.
func (e Environment) StartNode(ctx context.Context, dir string, args ...string) (end func(), err error) {
	cmd := exec.CommandContext(ctx, e.NPM(".bin/node"), args...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		return func() {}, err
	}
	return func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}, nil
}

// Ripgrep is the one that figures are held to.
func (e Environment) Ripgrep() (string, error) {
	found, err := filepath.Glob(e.NPM("@vscode/ripgrep-*/bin/rg"))
	if err != nil || len(found) == 0 {
		return "", errors.New("ripgrep is not installed; run .ci/install")
	}
	return found[0], nil
}

// ClaudeProgram finds the program of this machine's kind in Claude Code's package.
func (e Environment) ClaudeProgram() (string, error) {
	found, err := filepath.Glob(e.NPM("@anthropic-ai/claude-code-*/claude"))
	if err != nil || len(found) == 0 {
		return "", errors.New("no Claude Code is installed; run .ci/install")
	}
	return found[0], nil
}
