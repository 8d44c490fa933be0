// Package settings reads files of configuration into structs, by the tags of their
// fields. It knows no setting by name, opens no file and reads no environment: [Options]
// resolve the references of a file.
//
// Start at [Decode]: it turns the bytes of a file into values and reports every problem
// with its line. [Document.Narrow] applies a file that is not trusted to widen anything.
// [Schema] describes the files to editors.
//
// The tags of a field at the top are those that config.Config documents; below it the
// fields of structs have
//
//	json                    the key; without omitempty the key must be there
//	jsonschema_description  the meaning
//	jsonschema              enum=VALUE, minimum=N, maximum=N, minItems=1
//	secret                  it is never shown, and may be in a file of its own
//	expand                  "-": a ${NAME} in it is not a variable of the environment
//	narrow                  see [Document.Narrow]
//	live                    "no": a reload leaves it, see [Renew]
//
// It imports schema at most.
package settings

import (
	"iter"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Field is a field of a struct of settings.
type Field struct {
	Key    string // in files
	Flag   string // its other names: the flag, the variable of the environment
	Env    string
	Arg    string // name of the value in the help
	Help   string
	Narrow string
	Live   bool // changes at a reload
	Value  reflect.Value

	rules rules
}

// rules restrict the values of a field, by its tags.
type rules struct {
	enum     []string
	min, max string // numbers; "" = no bound
	fallback string // the meaning of the zero value
	secret   bool
	verbatim bool // no ${NAME} is replaced
	text     bool // a string that any scalar gives, as a flag does
	some     bool // a list that names something: its zero value would mean everything
	narrow   string
}

// Walk returns the fields of the struct that dst points to in their order, those of
// embedded structs in their place. A []any of pointers to structs with the tag sections
// is replaced by the fields of these.
func Walk(dst any) iter.Seq2[reflect.StructField, reflect.Value] {
	return func(yield func(reflect.StructField, reflect.Value) bool) { walk(dst, yield) }
}

func walk(dst any, yield func(reflect.StructField, reflect.Value) bool) bool {
	for f, value := range reflect.ValueOf(dst).Elem().Fields() {
		switch {
		case f.Tag.Get("sections") != "":
			for _, section := range value.Interface().([]any) {
				if !walk(section, yield) {
					return false
				}
			}
		case f.Anonymous:
			if !walk(value.Addr().Interface(), yield) {
				return false
			}
		case !yield(f, value):
			return false
		}
	}
	return true
}

// Fields returns the fields that a file can set, of the struct that dst points to, see
// [Walk].
func Fields(dst any) []Field {
	var list []Field
	for f, value := range Walk(dst) {
		field, ok := parsed.Load(f.Tag)
		if !ok {
			field, _ = parsed.LoadOrStore(f.Tag, parse(f.Tag))
		}
		if field := field.(Field); field.Key != "" {
			field.Value = value
			list = append(list, field)
		}
	}
	return list
}

// parsed holds the fields at the top by their tags. Parsing all tags takes a good part of
// a millisecond, and a start asks several times.
var parsed sync.Map // of reflect.StructTag to Field

func parse(tag reflect.StructTag) Field {
	r := rulesOf(tag)
	r.text = tag.Get("env") != ""
	r.some = r.some || r.text
	return Field{
		Key: topKey(tag), Flag: tag.Get("flag"), Env: tag.Get("env"), Arg: tag.Get("arg"), Help: tag.Get("help"),
		Narrow: r.narrow, Live: tag.Get("live") == "yes", rules: r,
	}
}

// Secret reports whether the value is never shown.
func (f Field) Secret() bool { return f.rules.secret }

// Renew gives the fields of dst that are live the values of the fields of src, which is of
// the same type, and returns the keys of the others whose values differ. A live struct may
// have fields that are not: these have the tag live:"no" and keep their values.
func Renew(dst, src any) (kept []string) {
	from := Fields(src)
	for i, f := range Fields(dst) {
		value := from[i].Value
		switch {
		case reflect.DeepEqual(f.Value.Interface(), value.Interface()):
		case !f.Live:
			kept = append(kept, f.Key)
		default:
			next := reflect.New(value.Type()).Elem()
			next.Set(value)
			if next.Kind() == reflect.Struct {
				for _, m := range members(next.Type()) {
					was, is := f.Value.FieldByIndex(m.index), next.FieldByIndex(m.index)
					if m.fixed && !reflect.DeepEqual(was.Interface(), is.Interface()) {
						kept = append(kept, below(f.Key, m.key))
						is.Set(was)
					}
				}
			}
			f.Value.Set(next)
		}
	}
	return kept
}

// topKey is the key of a field at the top; "" = files cannot set it.
func topKey(tag reflect.StructTag) string {
	switch key := tag.Get("file"); {
	case key == "-":
		return ""
	case key != "":
		return key
	case tag.Get("env") == "": // a flag of one command
		return ""
	case tag.Get("flag") != "":
		return strings.ReplaceAll(tag.Get("flag"), "-", "_")
	}
	return strings.ToLower(strings.TrimPrefix(tag.Get("env"), "TOOLCRIB_"))
}

func rulesOf(tag reflect.StructTag) rules {
	r := rules{
		fallback: tag.Get("default"), narrow: tag.Get("narrow"),
		verbatim: tag.Get("expand") == "-",
		secret:   tag.Get("secret") != "" || tag.Get("env") != "" && tag.Get("flag") == "",
	}
	if values := tag.Get("values"); values != "" {
		r.enum = strings.Split(values, ",")
	}
	for word := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
		switch keyword, value, _ := strings.Cut(word, "="); keyword {
		case "enum":
			r.enum = append(r.enum, value)
		case "minimum":
			r.min = value
		case "maximum":
			r.max = value
		case "minItems":
			r.some = value == "1"
		}
	}
	return r
}

// member is a field of a struct below the top.
type member struct {
	key, help string
	required  bool
	fixed     bool // a reload does not change it
	rules     rules
	index     []int
	typ       reflect.Type
}

// members returns the fields of a struct below the top.
func members(t reflect.Type) []member {
	var list []member
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && key == "" || !f.IsExported() || key == "" || key == "-" {
			continue
		}
		list = append(list, member{
			key: key, help: f.Tag.Get("jsonschema_description"), rules: rulesOf(f.Tag), index: f.Index, typ: f.Type,
			fixed:    f.Tag.Get("live") == "no",
			required: !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"),
		})
	}
	return list
}

// below returns the position of a key below another position: policy[1].tool.
func below(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func item(at string, i int) string { return at + "[" + strconv.Itoa(i+1) + "]" }
