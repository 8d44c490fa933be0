package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolcrib/schema"
	"toolcrib/server/config/settings"
)

// ErrHelp is the error of Parse for -h and --help.
var ErrHelp = errors.New("help is wanted")

// Option is one field that a flag, a variable of the environment or either sets. The tags are those that [Config] documents.
type Option struct {
	Name, Env, Arg, Help string
	Topic                string // page of the help that the setting belongs to
	Hidden               bool   // from the help
	Field                reflect.Value

	values []string
}

// Options returns the options of a struct in its order, see [settings.Walk]. dst is a
// pointer to the struct.
func Options(dst any) []Option {
	var list []Option
	topic := ""
	for f, field := range settings.Walk(dst) {
		if begins, ok := f.Tag.Lookup("topic"); ok {
			topic = begins
		}
		name, env := f.Tag.Get("flag"), f.Tag.Get("env")
		if name == "" && env == "" {
			continue
		}
		o := Option{Name: name, Env: env, Arg: f.Tag.Get("arg"), Help: f.Tag.Get("help"), Topic: topic, Hidden: f.Tag.Get("hidden") != "", Field: field}
		if values := f.Tag.Get("values"); values != "" {
			o.values = strings.Split(values, ",")
		}
		list = append(list, o)
	}
	return list
}

// Values returns the allowed values, nil where any text may be one.
func (o Option) Values() []string { return o.values }

// Given maps the variable of an option to the source that has set it: "--read-only" or
// "TOOLCRIB_READ_ONLY". It leaves out options that only a flag can set.
type Given map[string]string

// Parse fills dst from the environment and from args, which beat it, and returns the
// arguments that are not flags. Flags may be anywhere before "--", as --name value or
// --name=value.
func Parse(dst any, args, environ []string) (rest []string, from Given, err error) {
	opts := Options(dst)
	seen := map[string]bool{}
	from = Given{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if arg == "-h" || arg == "--help" {
			return nil, nil, ErrHelp
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		o, err := pick(opts, name)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case given:
		case o.Field.Kind() == reflect.Bool:
			value = "true"
		case i+1 < len(args) && (args[i+1] == "-" || !strings.HasPrefix(args[i+1], "-")):
			i++
			value = args[i]
		default:
			return nil, nil, fmt.Errorf("--%s wants a value: --%s=%s", o.Name, o.Name, o.Arg)
		}
		if value == "" && o.Field.Kind() == reflect.String {
			return nil, nil, fmt.Errorf("--%s is empty; leave it out to mean the default", o.Name)
		}
		if err := o.set(value, seen[o.Name]); err != nil {
			return nil, nil, fmt.Errorf("--%s: %w", o.Name, err)
		}
		seen[o.Name] = true
		if o.Env != "" {
			from[o.Env] = "--" + o.Name
		}
	}
	for _, o := range opts {
		if o.Env == "" || seen[o.Name] {
			continue
		}
		value := getenv(environ, o.Env)
		if value == "" {
			continue
		}
		if err := o.set(value, false); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.Env, err)
		}
		from[o.Env] = o.Env
	}
	return rest, from, nil
}

func pick(opts []Option, name string) (Option, error) {
	var names []string
	for _, o := range opts {
		switch o.Name {
		case "": // only a variable sets it
		case name:
			return o, nil
		default:
			names = append(names, o.Name)
		}
	}
	bare := strings.TrimLeft(name, "-")
	if near := schema.Nearest(bare, names); near != "" {
		return Option{}, fmt.Errorf("unknown flag %s; did you mean --%s", dashed(name), near)
	}
	return Option{}, fmt.Errorf("unknown flag %s", dashed(name))
}

// dashed returns a flag as it was written: Parse takes "--" off, not "-".
func dashed(name string) string {
	if strings.HasPrefix(name, "-") {
		return name
	}
	return "--" + name
}

// set gives the field its value; more adds to a list.
func (o Option) set(text string, more bool) error {
	switch o.Field.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		o.Field.SetBool(b)
	case reflect.Slice:
		var list []string
		if more {
			list = o.Field.Interface().([]string)
		}
		before := len(list)
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		if len(list) == before { // an unset variable of a script must not open everything
			return fmt.Errorf("%q names nothing; leave it out to mean the default", text)
		}
		o.Field.Set(reflect.ValueOf(list))
	default:
		if err := o.allows(text); err != nil {
			return err
		}
		o.Field.SetString(text)
	}
	return nil
}

func (o Option) allows(text string) error {
	if len(o.values) == 0 || slices.Contains(o.values, text) {
		return nil
	}
	if near := schema.Nearest(text, o.values); near != "" {
		return fmt.Errorf("%q is not a value; did you mean %q", text, near)
	}
	return fmt.Errorf("%q is not a value; there are: %s", text, strings.Join(o.values, ", "))
}

// getenv returns a variable of environ, "" where it is not set.
func getenv(environ []string, name string) string {
	value, _ := lookup(environ, name)
	return value
}

// lookup returns a variable of environ, whose last entry counts, and whether it is set.
func lookup(environ []string, name string) (string, bool) {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// strangers returns a line for each TOOLCRIB_ variable of environ that is not
// among known, with the nearest that is.
func strangers(environ, known []string) []string {
	var lines []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "TOOLCRIB_") || slices.Contains(known, name) {
			continue
		}
		line := fmt.Sprintf("%s is not a variable that toolcrib reads", name)
		if near := schema.Nearest(name, known); near != "" {
			line += "; did you mean " + near
		}
		lines = append(lines, line)
	}
	return lines
}
