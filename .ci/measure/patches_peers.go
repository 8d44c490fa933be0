package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// patchApplier applies the patch of a file in its directory, and reports whether it did.
type patchApplier struct {
	name      string
	dir       string
	envelopes bool
	apply     func(ctx context.Context, text, name string) (applied bool, err error)
}

func ownPatch(server *toolUser, dir string) patchApplier {
	return patchApplier{"toolcrib apply_patch", dir, true, func(_ context.Context, text, _ string) (bool, error) {
		answer, err := server.use("apply_patch", map[string]any{"patch": text})
		return !answer.failed, err
	}}
}

func gitApply(dir string) patchApplier {
	return patchApplier{"git apply", dir, false, func(ctx context.Context, text, _ string) (bool, error) {
		return patchedBy(ctx, dir, text, "git", "apply", "-")
	}}
}

func gnuPatch(dir string) patchApplier {
	return patchApplier{"GNU patch", dir, false, func(ctx context.Context, text, name string) (bool, error) {
		return patchedBy(ctx, dir, text, "patch", "--force", "--silent", "--no-backup-if-mismatch", "--reject-file=-", name)
	}}
}

// patchedBy gives a patch to a program on its standard input.
func patchedBy(ctx context.Context, dir, text, name string, args ...string) (applied bool, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+dir, "GIT_DIR=/nonexistent")
	err = cmd.Run()
	if _, refused := errors.AsType[*exec.ExitError](err); refused {
		return false, nil
	}
	return err == nil, err
}
