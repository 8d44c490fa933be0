package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/tools"
)

// MethodElicit is the method of the request that shows a form to the user.
const MethodElicit = string(mcp.MethodElicitationCreate)

// objectSchema is the schema of a form: flat, as clients show it.
type objectSchema struct {
	Type       string       `json:"type"`
	Properties fieldSchemas `json:"properties"`
	Required   []string     `json:"required,omitempty"`
}

// fieldSchemas are the properties of a form in the order in which the user is to
// see them.
type fieldSchemas []fieldSchema

type fieldSchema struct {
	name        string
	Type        string          `json:"type"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Format      string          `json:"format,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	EnumNames   []string        `json:"enumNames,omitempty"`
	OneOf       []titledChoice  `json:"oneOf,omitempty"`
	Items       *choicesSchema  `json:"items,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// choicesSchema is the schema of the items of a field that takes several choices.
type choicesSchema struct {
	Type  string         `json:"type,omitempty"`
	Enum  []string       `json:"enum,omitempty"`
	AnyOf []titledChoice `json:"anyOf,omitempty"`
}

type titledChoice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// MarshalJSON writes an object whose keys are in the order of the fields.
func (fs fieldSchemas) MarshalJSON() ([]byte, error) {
	b := bytes.NewBufferString("{")
	for i, f := range fs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(append(AppendString(nil, f.name), ':'))
		field, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		b.Write(field)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// FormSchema returns a form as a schema for a client of the revision. A form without
// fields has no properties: the user accepts or declines.
func FormSchema(form tools.Form, revision string) objectSchema {
	s := objectSchema{Type: "object", Properties: make(fieldSchemas, 0, len(form.Fields))}
	for _, f := range form.Fields {
		if splits(f, revision) {
			s.Properties = append(s.Properties, split(f)...)
			continue
		}
		s.Properties = append(s.Properties, field(f, revision))
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

func field(f tools.FormField, revision string) fieldSchema {
	s := fieldSchema{
		name: f.Name, Type: f.Type, Title: f.Title, Description: f.Description, Format: f.Format, Default: f.Default,
	}
	switch titled := len(f.Labels) > 0; {
	case f.Many && titled:
		s.Type, s.Items = "array", &choicesSchema{AnyOf: choices(f)}
	case f.Many:
		s.Type, s.Items = "array", &choicesSchema{Type: "string", Enum: f.Choices}
	case titled && revision < mcp.ProtocolVersion20251125: // which had another word for titles
		s.Enum = f.Choices
		for _, c := range choices(f) {
			s.EnumNames = append(s.EnumNames, c.Title)
		}
	case titled:
		s.OneOf = choices(f)
	default:
		s.Enum = f.Choices
	}
	return s
}

// splits reports whether a field takes several choices, which a form has no type for before
// 2025-11-25: each choice is a boolean then.
func splits(f tools.FormField, revision string) bool {
	return f.Many && revision < mcp.ProtocolVersion20251125
}

func split(f tools.FormField) (list fieldSchemas) {
	var taken []string
	_ = json.Unmarshal(f.Default, &taken) // nil has none
	for i, c := range choices(f) {
		s := fieldSchema{name: partName(f, i), Type: "boolean", Title: c.Title, Description: f.Description}
		if f.Title != "" {
			s.Title = f.Title + ": " + c.Title
		}
		if f.Default != nil {
			s.Default = strconv.AppendBool(nil, slices.Contains(taken, c.Const))
		}
		list = append(list, s)
	}
	return list
}

// partName is the name of the boolean for a choice.
func partName(f tools.FormField, choice int) string { return f.Name + "_" + strconv.Itoa(choice+1) }

// Joined puts the parts of a form's fields together again, as a client of the revision has
// answered them.
func Joined(a tools.Answer, form tools.Form, revision string) tools.Answer {
	for _, f := range form.Fields {
		if a.Action != tools.Accept || !splits(f, revision) {
			continue
		}
		taken := []string{}
		for i, choice := range f.Choices {
			if string(a.Values[partName(f, i)]) == "true" {
				taken = append(taken, choice)
			}
			delete(a.Values, partName(f, i))
		}
		list, err := json.Marshal(taken)
		if err == nil && a.Values != nil {
			a.Values[f.Name] = list
		}
	}
	return a
}

// choices pairs the choices of a field with their labels; one without a label is
// its own.
func choices(f tools.FormField) []titledChoice {
	list := make([]titledChoice, len(f.Choices))
	for i, c := range f.Choices {
		list[i] = titledChoice{c, c}
		if i < len(f.Labels) {
			list[i].Title = f.Labels[i]
		}
	}
	return list
}

// Elicitation returns the params of the request that shows a form to the user of a client
// of the revision.
func Elicitation(form tools.Form, revision string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: form.Message, RequestedSchema: FormSchema(form, revision)}
}

// ReadAnswer reads the user's answer to a form; ok is false if it cannot be read.
func ReadAnswer(raw json.RawMessage) (_ tools.Answer, ok bool) {
	var a struct {
		Action  tools.Action               `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return tools.Answer{}, false
	}
	switch a.Action {
	case tools.Accept:
		return tools.Answer{Action: tools.Accept, Values: a.Content}, true
	case tools.Decline, tools.Cancel:
		return tools.Answer{Action: a.Action}, true
	}
	return tools.Answer{}, false
}
