// Package jsonschema replaces the validator of JSON Schema that mcp-go links and this
// server never calls: package schema validates. The real one compiles the meta-schemas of
// five drafts whenever a process starts, which took a third of a start and of every
// program in the sandbox. go.mod puts this module in its place.
//
// It declares only the names that mcp-go's optional validation uses. Turning that
// validation on panics.
package jsonschema

import "io"

// Compiler would compile schemas.
type Compiler struct{}

// Schema would validate.
type Schema struct{}

// ValidationError has the fields that mcp-go reads.
type ValidationError struct {
	InstanceLocation []string
	ErrorKind        any
	Causes           []*ValidationError
}

func (*ValidationError) Error() string { return none }

const none = "toolcrib links no validator of JSON Schema for mcp-go: package schema validates"

// NewCompiler panics.
func NewCompiler() *Compiler { panic(none) }

// UnmarshalJSON panics.
func UnmarshalJSON(io.Reader) (any, error) { panic(none) }

// AddResource panics.
func (*Compiler) AddResource(string, any) error { panic(none) }

// Compile panics.
func (*Compiler) Compile(string) (*Schema, error) { panic(none) }

// Validate panics.
func (*Schema) Validate(any) error { panic(none) }
