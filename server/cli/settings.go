package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"toolcrib/server"
	"toolcrib/server/config/settings"
)

// sources is where the settings of a command come from, strongest first: flags,
// variables of the environment, the user's file of configuration. What comes of these
// the file of each workspace narrows. They can be read again.
type sources struct {
	p     *Process
	given server.Config // by flags and variables
	from  given
	roots []string
}

func (p *Process) sources(cfg server.Config, roots []string) *sources {
	return &sources{p, cfg, p.given, roots}
}

// loaded is the settings that come of all sources.
type loaded struct {
	server.Config
	doc   *settings.Document // the user's file; nil: there is none
	from  map[string]string  // what has set a key, for people
	files []string           // of configuration that there are
	notes []string           // what the user should know, a line each
}

// settle puts what comes of all sources into cfg, which has what flags and variables
// say, and tells on stderr what the user should know.
func (p *Process) settle(cfg *server.Config, roots []string) error {
	l, err := p.sources(*cfg, roots).read()
	if err != nil {
		return err
	}
	p.tell(l)
	*cfg = l.Config
	return nil
}

func (p *Process) tell(l *loaded) {
	for _, line := range l.notes {
		fmt.Fprintln(p.Stderr, "toolcrib: warning:", line)
	}
}

// read reads the files. Its error has all that is wrong with them.
func (s *sources) read() (*loaded, error) {
	l := &loaded{Config: s.given, from: map[string]string{}}
	for _, f := range settings.Fields(&l.Config) {
		if by := s.from[f.Env]; by != "" {
			l.from[f.Key] = by
		}
	}
	if err := s.user(l); err != nil {
		return nil, wrongFile(err)
	}
	var problems settings.Problems
	for _, root := range s.roots {
		err := s.workspace(l, root)
		if more, ok := errors.AsType[settings.Problems](err); ok {
			problems = append(problems, more...)
		} else if err != nil {
			return nil, wrongFile(err)
		}
	}
	if len(problems) > 0 {
		return nil, wrongFile(problems)
	}
	return l, nil
}

// wrongFile is the error for files of configuration that do not stand.
func wrongFile(err error) error {
	const hint = "toolcrib config schema describes the file; toolcrib config check FILE looks at one"
	if problems, ok := errors.AsType[settings.Problems](err); ok && len(problems) > 1 {
		return usagef(hint, "the configuration is wrong in %d places:\n  %s", len(problems), strings.ReplaceAll(problems.Error(), "\n", "\n  "))
	}
	return &usageError{err, hint}
}

// user applies the user's file to what neither flags nor variables set.
func (s *sources) user(l *loaded) error {
	name, err := s.p.userFile(s.given.File)
	if err != nil || name == "" {
		return err
	}
	var file server.Config
	doc, err := s.p.decodeUser(name, &file)
	if err != nil {
		return err
	}
	l.doc, l.files = doc, append(l.files, name)
	values := settings.Fields(&file)
	for i, f := range settings.Fields(&l.Config) {
		if doc.Has(f.Key) && s.from[f.Env] == "" {
			f.Value.Set(values[i].Value)
			l.from[f.Key] = doc.Where(f.Key)
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
func (p *Process) decodeUser(name string, cfg *server.Config) (*settings.Document, error) {
	data, private, err := readOwn(name, maxUserFile)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(name)
	doc, wrong := settings.Decode(data, cfg, settings.Options{
		Name:       name,
		Getenv:     func(variable string) (string, bool) { return lookup(p.Environ, variable) },
		ReadSecret: func(path string) (string, error) { return readSecret(under(dir, path)) },
	})
	if problems := problemsOf(wrong).With(p.checkTools(doc, *cfg)); len(problems) > 0 {
		return doc, problems
	}
	for _, f := range settings.Fields(cfg) {
		if doc.Has(f.Key) && (f.Arg == "FILE" || f.Arg == "DIR") {
			f.Value.SetString(under(dir, f.Value.String()))
		}
	}
	if where := doc.Clear(); where != "" && !private {
		return nil, fmt.Errorf("%s: a secret stands in a file that others can read; chmod 600 %s, or write {file: PATH} or ${VARIABLE}", where, shellWord(name))
	}
	return doc, nil
}

func problemsOf(err error) settings.Problems {
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
func (s *sources) workspace(l *loaded, root string) error {
	name := filepath.Join(root, workspaceFile)
	data, err := readWorkspaceFile(root)
	if err != nil || data == nil {
		return err
	}
	l.files = append(l.files, name)
	var file server.Config
	doc, wrong := settings.Decode(data, &file, settings.Options{Name: name})
	s.p.fillTools(&l.Config, file)
	done, wide := doc.Narrow(&l.Config, &file)
	if problems := problemsOf(wrong).With(s.p.checkTools(doc, file)).With(problemsOf(wide)); len(problems) > 0 {
		return problems
	}
	if len(done.Left) > 0 {
		if err := s.p.narrowTools(&l.Config, file); err != nil {
			return err
		}
		l.from["exclude_tools"] = strings.TrimPrefix(l.from["exclude_tools"]+", narrowed by "+doc.Where(done.Left[0]), ", ")
	}
	for _, key := range done.Changed {
		by := "narrowed by " + doc.Where(key)
		if l.from[key] != "" {
			by = l.from[key] + ", " + by
		}
		l.from[key] = by
	}
	l.notes = append(l.notes, done.Kept...)
	return nil
}
