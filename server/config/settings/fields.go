// Package settings reads files of configuration into structs, by the tags of their
// fields. It knows no setting by name, opens no file and reads no environment: what a
// file may refer to is handed to it.
//
// [Decode] is where to start: it turns the bytes of a file into values and tells all
// that is wrong with them, each with its line. [Document.Narrow] applies a file that is
// not trusted to widen anything. [Schema] describes the files to editors.
//
// The tags of a field at the top are those that server.Config documents; below it the
// fields of structs have
//
//	json                    the key; without omitempty the key must be there
//	jsonschema_description  what it is
//	jsonschema              enum=VALUE, minimum=N, maximum=N, minItems=1
//	secret                  it is never shown, and may stand in a file of its own
//	expand                  "-": a ${NAME} in it is not a variable of the environment
//	narrow                  see [Document.Narrow]
//
// It imports schema at most.
package settings

import (
	"reflect"
	"strconv"
	"strings"
)

// Field is a field of a struct of settings.
type Field struct {
	Key    string // in files
	Flag   string // its other names: the flag, the variable of the environment
	Env    string
	Arg    string // what the help calls the value
	Help   string
	Narrow string
	Live   bool // changes at a reload
	Value  reflect.Value

	rules rules
}

// rules are what the tags of a field say of its values.
type rules struct {
	enum     []string
	min, max string // numbers; "" = no bound
	fallback string // what the zero value means
	secret   bool
	verbatim bool // no ${NAME} is replaced
	text     bool // a string that any scalar gives, as a flag does
	some     bool // a list that names something: its zero value would mean everything
	narrow   string
}

// Fields returns the fields that a file can set, of the struct that dst points to, those
// of embedded structs in their place.
func Fields(dst any) []Field {
	v := reflect.ValueOf(dst).Elem()
	var list []Field
	for f, value := range v.Fields() {
		if f.Anonymous {
			list = append(list, Fields(value.Addr().Interface())...)
			continue
		}
		if key := topKey(f.Tag); key != "" {
			r := rulesOf(f)
			r.text = f.Tag.Get("env") != ""
			r.some = r.some || r.text
			list = append(list, Field{
				Key: key, Flag: f.Tag.Get("flag"), Env: f.Tag.Get("env"), Arg: f.Tag.Get("arg"), Help: f.Tag.Get("help"),
				Narrow: r.narrow, Live: f.Tag.Get("live") != "", Value: value, rules: r,
			})
		}
	}
	return list
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

func rulesOf(f reflect.StructField) rules {
	r := rules{
		fallback: f.Tag.Get("default"), narrow: f.Tag.Get("narrow"),
		verbatim: f.Tag.Get("expand") == "-",
		secret:   f.Tag.Get("secret") != "" || f.Tag.Get("env") != "" && f.Tag.Get("flag") == "",
	}
	if values := f.Tag.Get("values"); values != "" {
		r.enum = strings.Split(values, ",")
	}
	for word := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
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
			key: key, help: f.Tag.Get("jsonschema_description"), rules: rulesOf(f), index: f.Index, typ: f.Type,
			required: !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"),
		})
	}
	return list
}

// below names what stands below a place in a file: policy[1].tool.
func below(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func item(at string, i int) string { return at + "[" + strconv.Itoa(i+1) + "]" }
