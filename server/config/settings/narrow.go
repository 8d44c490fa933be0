package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Narrowed lists the effects of a file that may only narrow.
type Narrowed struct {
	Changed []string // keys whose values it has changed
	Left    []string // keys whose narrowing is up to the caller: narrow:"catalog"
	Kept    []string // a line for each value that would have widened and has no effect
}

// Narrow applies the values that the file has set in by to dst, as far as they allow less
// than before. Both point to structs of the same type. The tag narrow defines what is less:
//
//	true, false        a bool may become that; the other value is an error
//	union              a list may grow
//	order=A,B,C        the later of these counts; A, which cannot narrow, is an error
//	least              the smaller number counts; 0 in dst means no bound
//	append KEY=A,B     a list may grow by elements whose KEY is one of these
//	each               the members of each element of a map are narrowed
//	catalog            left to the caller, who knows more
//
// A field without it cannot narrow: a file that sets one is wrong. The error is
// [Problems]; dst is then of no use.
func (d *Document) Narrow(dst, by any) (Narrowed, error) {
	n := narrower{doc: d}
	from := Fields(by)
	for i, f := range Fields(dst) {
		if !d.Has(f.Key) {
			continue
		}
		before := reflect.New(f.Value.Type()).Elem()
		before.Set(f.Value)
		n.field(f.Key, f.rules, f.Value, from[i].Value, f)
		if !reflect.DeepEqual(before.Interface(), f.Value.Interface()) {
			n.done.Changed = append(n.done.Changed, f.Key)
		}
	}
	if len(n.problems) > 0 {
		return Narrowed{}, n.problems
	}
	return n.done, nil
}

type narrower struct {
	doc      *Document
	done     Narrowed
	problems Problems
}

func (n *narrower) fail(at, format string, args ...any) {
	n.problems = append(n.problems, n.doc.Problem(at, format, args...))
}

func (n *narrower) kept(at string, value any) {
	n.done.Kept = append(n.done.Kept, fmt.Sprintf("%s: %s has no effect, since it would widen %v", n.doc.Where(at), at, value))
}

// field narrows dst, a field at the top.
func (n *narrower) field(at string, r rules, dst, by reflect.Value, f Field) {
	switch r.narrow {
	case "catalog":
		n.done.Left = append(n.done.Left, at)
	case "":
		n.fail(at, "the file of a workspace can only narrow, and this cannot: %s", f.elsewhere())
	default:
		n.value(at, r, dst, by)
	}
}

// elsewhere says how to set a setting that a workspace's file cannot hold.
func (f Field) elsewhere() string {
	ways := []string{"put it into your own configuration file"}
	if f.Flag != "" {
		ways = append(ways, "--"+f.Flag)
	}
	if f.Env != "" {
		ways = append(ways, f.Env)
	}
	return strings.Join(ways, ", or use ")
}

func (n *narrower) value(at string, r rules, dst, by reflect.Value) {
	how, of, _ := strings.Cut(r.narrow, "=")
	switch how {
	case "true", "false":
		if by.Bool() != (how == "true") {
			n.fail(at, "%t would widen; a workspace's file can only say %s", by.Bool(), how)
			return
		}
		dst.SetBool(by.Bool())
	case "union":
		list := reflect.AppendSlice(slicesCloned(dst), by)
		dst.Set(list)
	case "order":
		n.order(at, r, strings.Split(of, ","), dst, by)
	case "least":
		n.least(at, dst, by)
	case "each":
		n.each(at, dst, by)
	default: // append KEY=A,B
		n.grow(at, strings.TrimPrefix(how, "append "), strings.Split(of, ","), dst, by)
	}
}

// slicesCloned copies a list, so that appending to it changes no other struct.
func slicesCloned(v reflect.Value) reflect.Value {
	return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
}

func (n *narrower) order(at string, r rules, order []string, dst, by reflect.Value) {
	now := dst.String()
	if now == "" {
		now = r.fallback
	}
	switch was, is := slices.Index(order, now), slices.Index(order, by.String()); {
	case is == 0:
		n.fail(at, "%q would widen; a workspace's file can say: %s", by.String(), strings.Join(order[1:], ", "))
	case is > was:
		dst.SetString(by.String())
	case is < was:
		n.kept(at, now)
	}
}

func (n *narrower) least(at string, dst, by reflect.Value) {
	switch was, is := number(dst), number(by); {
	case is == 0:
		n.fail(at, "0 means no bound, which would widen")
	case was == 0 || is < was:
		dst.Set(by)
	case is > was:
		n.kept(at, dst.Interface())
	}
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}

// each narrows the members of the elements of a map; an element that was not there
// begins as the zero value.
func (n *narrower) each(at string, dst, by reflect.Value) {
	m := reflect.MakeMap(dst.Type())
	for it := dst.MapRange(); it.Next(); {
		m.SetMapIndex(it.Key(), it.Value())
	}
	for it := by.MapRange(); it.Next(); {
		element := reflect.New(dst.Type().Elem()).Elem()
		if was := dst.MapIndex(it.Key()); was.IsValid() {
			element.Set(was)
		}
		here := below(at, it.Key().String())
		for _, f := range members(element.Type()) {
			place := below(here, f.key)
			switch {
			case !n.doc.Has(place):
			case f.rules.narrow == "":
				n.fail(place, "the file of a workspace can only narrow, and this cannot: put it into your own configuration file")
			default:
				n.value(place, f.rules, element.FieldByIndex(f.index), it.Value().FieldByIndex(f.index))
			}
		}
		m.SetMapIndex(it.Key(), element)
	}
	dst.Set(m)
}

// grow appends the elements whose key has one of the values.
func (n *narrower) grow(at, key string, values []string, dst, by reflect.Value) {
	list := slicesCloned(dst)
	for i := range by.Len() {
		element := by.Index(i)
		for _, f := range members(element.Type()) {
			if value := element.FieldByIndex(f.index).String(); f.key == key && !slices.Contains(values, value) {
				n.fail(below(item(at, i), key), "%q could widen; a workspace's file can say: %s", value, strings.Join(values, ", "))
			}
		}
		list = reflect.Append(list, element)
	}
	dst.Set(list)
}
