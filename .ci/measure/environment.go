package main

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

// environment is where the programs are.
type environment struct {
	Binary string  // toolcrib
	Cache  string  // peers and trees, made by .ci/install
	Scale  float64 // 1 = full size
	Seed   uint64  // of a figure that is to be done again, where it takes one; 0 = a new one
}

// of scales a count, at least to low.
func (e environment) of(full, low int) int { return max(int(float64(full)*e.Scale), low) }

// full reports whether speed and memory are judged: a quick run is too short.
func (e environment) full() bool { return e.Scale >= 1 }

// newSeed is a seed of what is random in a figure, printed so that it can be done again.
func newSeed() uint64 {
	seed := uint64(time.Now().UnixNano())
	fmt.Printf("seed %d\n", seed)
	return seed
}

// program is a server that serves files below a directory on stdio.
type program struct {
	name string
	args []string
}

func (e environment) toolcrib(dir string) program {
	return program{"toolcrib", []string{e.Binary, "--state-dir", filepath.Join(os.TempDir(), "toolcrib-measure-state"), dir}}
}

func (e environment) peer(dir string) program {
	return program{"server-filesystem", []string{"node", e.npm("@modelcontextprotocol/server-filesystem/dist/index.js"), dir}}
}

// writer is toolcrib with leave to change what is below dir. Its state lies beside
// dir.
func (e environment) writer(dir string, flags ...string) program {
	args := append([]string{e.Binary, "serve", "--confirm", "client", "--state-dir", dir + ".state"}, flags...)
	return program{"toolcrib", append(args, dir)}
}

func (e environment) npm(path string) string {
	return filepath.Join(e.Cache, "npm", "node_modules", filepath.FromSlash(path))
}

// node runs a node program of the cache and returns its output.
func (e environment) node(ctx context.Context, dir string, vars []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.npm(".bin/node"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), vars...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// ripgrep is the one that figures are held to.
func (e environment) ripgrep() (string, error) {
	found, err := filepath.Glob(e.npm("@vscode/ripgrep-*/bin/rg"))
	if err != nil || len(found) == 0 {
		return "", errors.New("ripgrep is not installed; run .ci/install")
	}
	return found[0], nil
}

// claudeProgram finds the program of this machine's kind in Claude Code's package.
func (e environment) claudeProgram() (string, error) {
	found, err := filepath.Glob(e.npm("@anthropic-ai/claude-code-*/claude"))
	if err != nil || len(found) == 0 {
		return "", errors.New("no Claude Code is installed; run .ci/install")
	}
	return found[0], nil
}
