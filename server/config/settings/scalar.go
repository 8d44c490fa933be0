package settings

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"toolcrib/schema"
)

// scalar sets v to a single value.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, at string, r rules) {
	if r.secret && n.Kind == yaml.MappingNode {
		d.secretFile(n, v, at)
		return
	}
	if n.Kind != yaml.ScalarNode {
		d.fail(n, at, "this must be %s", kindName(v))
		return
	}
	text, expanded := n.Value, false
	if n.Tag == "!!str" && !r.verbatim {
		var ok bool
		if text, expanded, ok = d.expand(n, at); !ok {
			return
		}
	}
	if expanded {
		d.doc.raw[at] = n.Value
	} else if r.secret && d.doc.clear == "" {
		d.doc.clear = fmt.Sprintf("%s:%d: %s", d.doc.Name, n.Line, at)
	}
	if msg := wrongTag(n, v, r, expanded); msg != "" {
		d.fail(n, at, "%s", msg)
		return
	}
	if r.text && v.Kind() == reflect.String && text == "" {
		d.fail(n, at, "it is empty; leave the key out to mean the default")
		return
	}
	if msg := assign(v, text, r); msg != "" {
		d.fail(n, at, "%s", msg)
	}
}

// wrongTag says why the value is of the wrong kind for v, "" if it is not. The value of a
// variable has no kind yet.
func wrongTag(n *yaml.Node, v reflect.Value, r rules, expanded bool) string {
	if expanded || r.text && v.Kind() == reflect.String {
		return ""
	}
	want := []string{"!!str"}
	if _, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); !ok && v.Type() != durationType {
		switch v.Kind() {
		case reflect.Bool:
			want = []string{"!!bool"}
		case reflect.Float32, reflect.Float64:
			want = []string{"!!float", "!!int"}
		case reflect.String:
		default:
			want = []string{"!!int"}
		}
	}
	if slices.Contains(want, n.Tag) {
		return ""
	}
	if r.secret {
		return "this must be " + kindName(v)
	}
	return fmt.Sprintf("%s must be %s", quoted(n.Value), kindName(v))
}

var durationType = reflect.TypeFor[time.Duration]()

func kindName(v reflect.Value) string {
	if v.Type() == durationType {
		return "a time such as 30s or 5m"
	}
	switch v.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String, reflect.Struct, reflect.Slice:
		return "a text; put it in quotes"
	}
	return "a whole number"
}

// assign sets v to the value of a text, or returns the problem with it.
func assign(v reflect.Value, text string, r rules) string {
	shown := quoted(text)
	if r.secret {
		shown = "the value"
	}
	bad := fmt.Sprintf("%s must be %s", shown, kindName(v))
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			if r.secret {
				return "the value is not one"
			}
			return err.Error()
		}
		return ""
	}
	if v.Type() == durationType {
		t, err := time.ParseDuration(text)
		if err != nil || t < 0 {
			return bad
		}
		v.SetInt(int64(t))
		return ""
	}
	switch v.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return bad
		}
		v.SetBool(text == "true")
	case reflect.String:
		if len(r.enum) > 0 && !slices.Contains(r.enum, text) {
			if near := schema.Nearest(text, r.enum); near != "" {
				return fmt.Sprintf("%s is not a value; did you mean %q", shown, near)
			}
			return fmt.Sprintf("%s is not a value; there are: %s", shown, strings.Join(r.enum, ", "))
		}
		v.SetString(text)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil || f-f != 0 {
			return bad
		}
		v.SetFloat(f)
		return outside(text, r)
	default:
		n, ok := new(big.Int).SetString(text, 10)
		switch {
		case !ok:
			return bad
		case v.CanInt() && (!n.IsInt64() || v.OverflowInt(n.Int64())), v.CanUint() && (!n.IsUint64() || v.OverflowUint(n.Uint64())):
			return shown + " is out of range"
		case v.CanInt():
			v.SetInt(n.Int64())
		default:
			v.SetUint(n.Uint64())
		}
		return outside(text, r)
	}
	return ""
}

// outside says that a number is outside of its bounds.
func outside(text string, r rules) string {
	n, _ := new(big.Float).SetString(text)
	if lo, ok := new(big.Float).SetString(r.min); ok && n.Cmp(lo) < 0 {
		return fmt.Sprintf("%s is less than %s", text, r.min)
	}
	if hi, ok := new(big.Float).SetString(r.max); ok && n.Cmp(hi) > 0 {
		return fmt.Sprintf("%s is more than %s", text, r.max)
	}
	return ""
}

// quoted is a value in an error, shortened.
func quoted(text string) string {
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:60], "") + "..."
	}
	return strconv.Quote(text)
}

// secretFile sets a secret to the contents of the file of {file: PATH}.
func (d *decoder) secretFile(n *yaml.Node, v reflect.Value, at string) {
	var ref struct {
		File string `json:"file"`
	}
	before := len(d.problems)
	d.object(n, reflect.ValueOf(&ref).Elem(), at)
	if len(d.problems) > before {
		return
	}
	if d.opt.ReadSecret == nil {
		d.fail(n, at, "this file cannot refer to another; it comes with the workspace")
		return
	}
	text, err := d.opt.ReadSecret(ref.File)
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty", ref.File)
	}
	if err != nil {
		d.fail(n, at, "%v", err)
		return
	}
	d.doc.SecretFiles = append(d.doc.SecretFiles, ref.File)
	if msg := assign(v, text, rules{secret: true}); msg != "" {
		d.fail(n, at, "%s", msg)
	}
}
