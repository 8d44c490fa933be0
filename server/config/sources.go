package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"toolcrib/server/config/settings"
)

// Sources is where the settings of a command come from, strongest first: flags, variables
// of the environment, the user's file of configuration. The file of each workspace can
// narrow the result. The sources can be read again.
type Sources struct {
	env   *Env
	given Config // by flags and variables
	from  Given
	roots []string
}

// Sources returns the sources of the settings for roots; cfg is what flags and variables
// have set.
func (e *Env) Sources(cfg Config, roots []string) *Sources {
	return &Sources{e, cfg, e.Given, roots}
}

// Loaded holds the settings from all sources.
type Loaded struct {
	Config
	Doc   *settings.Document // the user's file; nil: there is none
	From  map[string]string  // the source that has set a key, for people
	Files []string           // the existing configuration files
	Notes []string           // for the user, a line each
}

// Read reads the files. Its error has all that is wrong with them.
func (s *Sources) Read() (*Loaded, error) {
	l := &Loaded{Config: s.given.Clone(), From: map[string]string{}}
	for _, f := range settings.Fields(&l.Config) {
		if by := s.from[f.Env]; by != "" {
			l.From[f.Key] = by
		}
	}
	if err := s.user(l); err != nil {
		return nil, WrongFile(err)
	}
	var problems settings.Problems
	for _, root := range s.roots {
		err := s.workspace(l, root)
		if more, ok := errors.AsType[settings.Problems](err); ok {
			problems = append(problems, more...)
		} else if err != nil {
			return nil, WrongFile(err)
		}
	}
	if len(problems) > 0 {
		return nil, WrongFile(problems)
	}
	return l, nil
}

// WrongFile returns the error for files of configuration with problems.
func WrongFile(err error) error {
	const hint = "toolcrib config schema describes the file; toolcrib config check FILE looks at one"
	if problems, ok := errors.AsType[settings.Problems](err); ok && len(problems) > 1 {
		return Usagef(hint, "the configuration is wrong in %d places:\n  %s", len(problems), strings.ReplaceAll(problems.Error(), "\n", "\n  "))
	}
	return &UsageError{err, hint}
}

// user applies the user's file to what neither flags nor variables set.
func (s *Sources) user(l *Loaded) error {
	name, err := s.env.userFile(s.given.File)
	if err != nil || name == "" {
		return err
	}
	file := New(s.env.Categories)
	doc, err := s.env.decodeUser(name, &file)
	if err != nil {
		return err
	}
	l.Doc, l.Files = doc, append(l.Files, name)
	values := settings.Fields(&file)
	for i, f := range settings.Fields(&l.Config) {
		if doc.Has(f.Key) && s.from[f.Env] == "" {
			f.Value.Set(values[i].Value)
			l.From[f.Key] = doc.Where(f.Key)
		}
	}
	l.OwnFiles = append(l.OwnFiles, name)
	for _, secret := range doc.SecretFiles {
		l.OwnFiles = append(l.OwnFiles, under(filepath.Dir(name), secret))
	}
	return s.outside(l, name)
}

// decodeUser reads a file that the user has written. Where the error is of problems, the
// document and all that is right of the configuration are there too.
func (e *Env) decodeUser(name string, cfg *Config) (*settings.Document, error) {
	data, private, err := readOwn(name, maxUserFile)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(name)
	doc, wrong := settings.Decode(data, cfg, settings.Options{
		Name:       name,
		Getenv:     func(variable string) (string, bool) { return lookup(e.Environ, variable) },
		ReadSecret: func(path string) (string, error) { return readSecret(under(dir, path)) },
	})
	if problems := ProblemsOf(wrong).With(e.checkTools(doc, *cfg)); len(problems) > 0 {
		return doc, problems
	}
	for _, f := range settings.Fields(cfg) {
		if doc.Has(f.Key) && (f.Arg == "FILE" || f.Arg == "DIR") {
			f.Value.SetString(under(dir, f.Value.String()))
		}
	}
	if where := doc.Clear(); where != "" && !private {
		return nil, fmt.Errorf("%s: a secret is in a file that others can read; chmod 600 %s, or write {file: PATH} or ${VARIABLE}", where, ShellWord(name))
	}
	return doc, nil
}

// ProblemsOf returns the problems of files that an error is, nil if it is another.
func ProblemsOf(err error) settings.Problems {
	problems, _ := errors.AsType[settings.Problems](err)
	return problems
}

// under returns a path that a file in dir names.
func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// workspace narrows l by the file of a root, where there is one.
func (s *Sources) workspace(l *Loaded, root string) error {
	name := filepath.Join(root, WorkspaceFile)
	data, err := readWorkspaceFile(root)
	if err != nil || data == nil {
		return err
	}
	l.Files = append(l.Files, name)
	file := New(s.env.Categories)
	doc, wrong := settings.Decode(data, &file, settings.Options{Name: name})
	s.env.fillTools(&l.Config, file)
	done, wide := doc.Narrow(&l.Config, &file)
	if problems := ProblemsOf(wrong).With(s.env.checkTools(doc, file)).With(ProblemsOf(wide)); len(problems) > 0 {
		return problems
	}
	if len(done.Left) > 0 {
		if err := s.env.narrowTools(&l.Config, file); err != nil {
			return err
		}
		l.From["exclude_tools"] = strings.TrimPrefix(l.From["exclude_tools"]+", narrowed by "+doc.Where(done.Left[0]), ", ")
	}
	for _, key := range done.Changed {
		by := "narrowed by " + doc.Where(key)
		if l.From[key] != "" {
			by = l.From[key] + ", " + by
		}
		l.From[key] = by
	}
	l.Notes = append(l.Notes, done.Kept...)
	return nil
}

// Locate says where in the user's file a [KeyError] is, if that has set it.
func (l *Loaded) Locate(err error) error {
	wrong, ok := errors.AsType[*KeyError](err)
	if !ok || l.Doc == nil || l.From[wrong.Key] != l.Doc.Where(wrong.Key) {
		return err
	}
	at, text := wrong.Key, wrong.Error()
	if l.Doc.Has(wrong.At) {
		return WrongFile(settings.Problems{l.Doc.Problem(wrong.At, "%s", text)})
	}
	// policy[1] (name): tool: what is wrong
	if item, rest, ok := strings.Cut(text, ": "); ok {
		item, _, _ = strings.Cut(item, " (")
		if l.Doc.Has(item) {
			at, text = item, rest
		}
		if field, rest, ok := strings.Cut(text, ": "); ok && l.Doc.Has(at+"."+field) {
			at, text = at+"."+field, rest
		}
	}
	return WrongFile(settings.Problems{l.Doc.Problem(at, "%s", text)})
}

// ReadFile reads a single file, as the user's or, by its name, as a workspace's. Where the
// error is of problems and the file is the user's, all that is right is there too.
func (e *Env) ReadFile(name string) (*Loaded, error) {
	l := &Loaded{Config: New(e.Categories), From: map[string]string{}}
	if filepath.Base(name) == WorkspaceFile {
		return l, (&Sources{env: e}).workspace(l, filepath.Dir(name))
	}
	var err error
	if l.Doc, err = e.decodeUser(name, &l.Config); l.Doc != nil {
		for _, key := range l.Doc.Keys() {
			l.From[key] = l.Doc.Where(key)
		}
	}
	return l, err
}
