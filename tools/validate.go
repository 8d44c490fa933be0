package tools

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// nameRule is the expression for names that isName accepts.
const nameRule = `^[a-z][a-z0-9_]{0,39}$`

func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= 40
}

// MaxDescription is the most characters of a description on the wire.
const MaxDescription = 600

// check checks a declaration as far as that needs no reflection.
func (t Tool) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("tool %q: %s", t.Name, fmt.Sprintf(format, args...))
	}
	for _, name := range append([]string{t.Name}, t.Aliases...) {
		if !isName(name) {
			return bad("name %q does not match %s", name, nameRule)
		}
	}
	switch {
	case t.Title == "":
		return bad("no title")
	case t.Category == "" || t.Category == ".":
		return bad("no category")
	case strings.TrimSpace(t.doc) == "":
		return bad("no doc")
	case !t.Access.valid():
		return bad("no access class")
	case !t.Effects.valid():
		return bad("no effects, or None together with others")
	case t.Access == Read && t.Effects != None:
		return bad("access read with effects %s", t.Effects)
	case t.Access == Write && t.Effects == None:
		return bad("access write without effects")
	case t.Least != t.Access && (t.Least != Read || t.plan == nil):
		return bad("a least access that is not read, or without a Plan")
	case t.Cache > 0 && (t.Least != Read || !t.Repeatable):
		return bad("a cache wants access read and Repeatable")
	case t.Cache < 0 || t.Timeout < 0 || t.Timeout > time.Hour:
		return bad("cache or timeout out of range")
	case t.Limits.Text < 0 || t.Limits.Text > MaxResource:
		return bad("limit of text out of range")
	}
	for _, f := range t.Foreign {
		if err := f.check(); err != nil {
			return bad("%s", err)
		}
	}
	for _, n := range t.Needs {
		if n.How == "" {
			return bad("a need says no way to meet it")
		}
	}
	return nil
}

// Validate checks a whole catalog: every declaration, schema and document, and that no name
// is used twice. It compiles everything, so it is for tests and for catalogs that are
// assembled at run time.
func Validate(all []Tool) error {
	var errs []error
	if _, err := NameTools(all); err != nil {
		errs = append(errs, err)
	}
	for _, t := range all {
		if err := t.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := t.compile(); err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", t.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (t Tool) compile() error {
	in, err := t.Input()
	if err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if err := in.Compile(); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if err := in.Spelled(t.spelled); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	for _, f := range t.Foreign {
		if err := in.Spelled(f.spellings()); err != nil {
			return fmt.Errorf("arguments of %s: %w", f.Name, err)
		}
	}
	out, err := t.Output()
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if out != nil {
		if err := out.Compile(); err != nil {
			return fmt.Errorf("result: %w", err)
		}
	}
	description, err := t.Description()
	if err != nil {
		return err
	}
	if n := len([]rune(description)); n > MaxDescription {
		return fmt.Errorf("description has %d characters, the limit is %d", n, MaxDescription)
	}
	_, err = t.Manual()
	return err
}
