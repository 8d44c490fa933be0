package tools

import "encoding/json"

// BlockKind is the kind of a content block.
type BlockKind uint8

// The kinds.
const (
	TextBlock BlockKind = iota + 1
	ImageBlock
	AudioBlock
	LinkBlock     // a resource, by its URI
	ResourceBlock // a resource with its content
)

// Block is one piece of a result.
type Block struct {
	Kind BlockKind
	Text string // TextBlock; ResourceBlock whose content is text
	Data []byte // ImageBlock, AudioBlock, ResourceBlock: the raw bytes, encoded by the transport
	MIME string // all but TextBlock
	URI  string // LinkBlock, ResourceBlock
	Name string // LinkBlock
}

// Text makes a text block.
func Text(s string) Block { return Block{Kind: TextBlock, Text: s} }

// Result is the result of a call, as the transport gets it.
type Result struct {
	Content []Block
	// Structured is the result as JSON, for a tool whose result is data; else nil.
	Structured json.RawMessage
	// Meta goes into the result's _meta; keys carry the vendor prefix.
	Meta map[string]any
	// Fit returns the result within another limit of text, for a tool that has called this
	// one and has less room, or more, than the limit of that tool; nil = it cannot.
	Fit func(limit int) (Result, error)
}

// Texter is an Out that formats itself for a model: compact, its first line a status.
type Texter interface{ Text() string }

// Contenter is an Out with blocks other than one text.
type Contenter interface{ Content() []Block }

// Trimmer is an Out whose text can be too long. Trim returns a copy whose text has at most
// budget bytes and says what was cut and which call returns the rest. It is called only
// if the text is over the budget.
type Trimmer[Out any] interface{ Trim(budget int) Out }

// Metaer is an Out with data for programs in addition to its text. Meta returns the
// result's _meta, nil = none; keys carry the vendor prefix.
type Metaer interface{ Meta() map[string]any }

// Cacheable is an Out of a tool with a Cache. Cacheable reports whether the workspace's
// generation changes with everything that the result depends on; if not, it is not cached.
type Cacheable interface{ Cacheable() bool }

// MetaNext is a key of Meta: the arguments that differ in the call for the next page. The
// last page does not have it.
const MetaNext = "toolcrib/next"

// MetaExit is a key of Meta: the exit code of the program that the call has run to its end.
const MetaExit = "toolcrib/exit_code"

// More is embedded in an Out that may be one page of several.
type More struct {
	Next map[string]any // the arguments that differ in the call for the next page; nil = it is the last
}

// NextAt returns the More of a page whose next one differs in one argument.
func NextAt[N int | int64](argument string, value N) More {
	return More{map[string]any{argument: value}}
}

// Meta implements [Metaer].
func (m More) Meta() map[string]any {
	if m.Next == nil {
		return nil
	}
	return map[string]any{MetaNext: m.Next}
}

// Limits of one result's text, in bytes.
const (
	MaxText      = 50_000
	MaxErrorText = 10_000
	// MaxResource is the limit of a resource: a client asks for one as a whole.
	MaxResource = 4 << 20
)
