package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"toolcrib/server/cli/internal/clientfile"
	"toolcrib/server/config"
)

// target is an entry of a client's configuration, and its wanted contents.
type target struct {
	client client
	home   config.Home
	scope  scope
	name   string
	dir    string // the project
	reach  reach
}

func (t target) file() string { return t.client.file(t.scope, t.home, t.dir) }

func (t target) place() clientfile.Entry { return t.client.place(t.name) }

// print shows where the entry belongs, the entry, and the ways to get it there.
// implied is whether the root was not named.
func (t target) print(w io.Writer, implied bool) error {
	snippet, err := t.place().Set(nil, t.client.entry(t.reach))
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s reads %s", t.client.name, t.file())
	for _, s := range t.client.scopes() {
		if s != t.scope {
			fmt.Fprintf(&b, " (and with --scope=%s %s)", s, t.client.file(s, t.home, t.dir))
		}
	}
	fmt.Fprintf(&b, ".\nAdd this to it:\n\n%s\nOr let toolcrib do it, with a backup:\n  %s\n", snippet, t.writeLine())
	if own := t.client.command(t.name, t.scope, t.reach); own != "" {
		fmt.Fprintf(&b, "Or %s:\n  %s\n", t.client.means, own)
	}
	if t.rewritten() {
		fmt.Fprintf(&b, "%s rewrites this file while it runs: end its sessions before a --write, or use its own command.\n", t.client.name)
	}
	t.advise(&b)
	if implied {
		fmt.Fprintf(&b, "The directories that the tools may use go at the end; this is for %s.\n", t.dir)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// advise writes notes about the entry that its text does not show.
func (t target) advise(b *strings.Builder) {
	if t.reach.token {
		fmt.Fprintf(b, "%s takes the token from %s in its environment: it must be set where the client starts, to the token of the server.\n", t.client.name, tokenVariable)
	}
	for _, word := range append([]string{t.reach.Command}, t.reach.Args...) {
		if t.client.expands != "" && strings.Contains(word, t.client.expands) {
			fmt.Fprintf(b, "Beware: %s takes the %s in %q for a variable of its environment.\n", t.client.name, t.client.expands, word)
		}
	}
	b.WriteString(t.client.then + "\n")
}

// rewritten reports whether the running client might write over an edit.
func (t target) rewritten() bool { return t.client.rewrites && t.scope == userScope }

// writeLine is the command line that writes this entry.
func (t target) writeLine() string {
	words := []string{t.client.id, "--write"}
	if t.name != defaultName {
		words = append(words, "--name="+t.name)
	}
	if t.scope != userScope {
		words = append(words, "--scope="+string(t.scope))
	}
	if t.reach.url == "" {
		return t.reach.configLine(words...)
	}
	words = append(words, "--url="+t.reach.url)
	if !t.reach.token {
		words = append(words, "--auth=none")
	}
	if t.scope == projectScope {
		words = append(words, t.dir)
	}
	return commandLine(append([]string{executable(), "config"}, words...)...)
}

func (t target) write(w io.Writer) error {
	f, err := clientfile.Read(t.file())
	if err != nil {
		return err
	}
	old, replaces, err := t.place().Find(f.Data())
	if err != nil {
		return t.refused(err)
	}
	entry := t.client.entry(t.reach)
	doc, err := t.place().Set(f.Data(), entry)
	if err != nil {
		return t.refused(err)
	}
	if f.Exists() && slices.Equal(doc, f.Data()) {
		_, err = fmt.Fprintf(w, "%s has this entry already; nothing is changed\n", t.file())
		return err
	}
	perm := fs.FileMode(0o600)
	if t.scope == projectScope {
		perm = 0o644
	}
	backup, err := f.Write(doc, perm, time.Now())
	if err != nil {
		return t.refused(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the entry %q of %s is written\n", t.name, t.file())
	saved(&b, backup)
	if replaces {
		now, _, err := t.place().Find(doc)
		if err != nil {
			return err
		}
		if gone := missingKeys(old, now); len(gone) > 0 {
			fmt.Fprintf(&b, "the old entry also had %s: what of it you need is in the backup\n", strings.Join(gone, ", "))
		}
	}
	if t.rewritten() {
		fmt.Fprintf(&b, "%s rewrites this file while it runs: if it is running, toolcrib config shows whether the entry has stayed.\n", t.client.name)
	}
	t.advise(&b)
	_, err = io.WriteString(w, b.String())
	return err
}

func (t target) remove(w io.Writer) error {
	f, err := clientfile.Read(t.file())
	if err != nil {
		return err
	}
	none := func() error {
		_, err := fmt.Fprintf(w, "%s has no entry %q; nothing is changed\n", t.file(), t.name)
		return err
	}
	if !f.Exists() {
		return none()
	}
	earlier, err := f.Earlier()
	if err != nil {
		return err
	}
	// Without a backup to compare with, a file of the entry alone is one that
	// --write has made.
	doc, err := t.place().Remove(f.Data(), append(earlier, nil)...)
	if errors.Is(err, clientfile.ErrNoEntry) {
		return none()
	}
	if err != nil {
		return t.refused(err)
	}
	var b strings.Builder
	var backup string
	if doc == nil {
		backup, err = f.Delete(time.Now())
		fmt.Fprintf(&b, "the entry %q was all of %s; the file is removed\n", t.name, t.file())
	} else {
		backup, err = f.Write(doc, 0, time.Now())
		fmt.Fprintf(&b, "the entry %q of %s is removed\n", t.name, t.file())
	}
	if err != nil {
		return t.refused(err)
	}
	saved(&b, backup)
	_, err = io.WriteString(w, b.String())
	return err
}

func saved(b *strings.Builder, backup string) {
	if backup != "" {
		fmt.Fprintf(b, "as it was before: %s\n", backup)
	}
}

// refused says of which file an error is, and that nothing has happened to it.
func (t target) refused(err error) error {
	if _, ok := errors.AsType[*clientfile.SyntaxError](err); ok {
		return fmt.Errorf("%s:%w; the file is left as it is", t.file(), err)
	}
	return fmt.Errorf("%s: %w; the file is left as it is", t.file(), err)
}

// missingKeys returns the keys of one entry that another has not.
func missingKeys(old, now any) []string {
	before, _ := old.(map[string]any)
	after, _ := now.(map[string]any)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(before)), func(key string) bool {
		_, ok := after[key]
		return ok
	})
}
