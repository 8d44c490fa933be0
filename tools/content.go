package tools

import "encoding/json"

// BlockKind tells the kinds of content blocks apart.
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

// Result is what a call gives back, as it goes to the transport.
type Result struct {
	Content []Block
	// Structured is the JSON of a tool whose result is data, nil otherwise.
	Structured json.RawMessage
	// Meta goes into the result's _meta; keys carry the vendor prefix.
	Meta map[string]any
}

// Texter is an Out that words itself for a model: first line a status, compact.
type Texter interface{ Text() string }

// Contenter is an Out with blocks other than one text.
type Contenter interface{ Content() []Block }

// Trimmer is an Out that can grow. Trim returns a copy whose text takes at most
// budget bytes and says what was cut and the exact next call that returns the
// rest. It is called only when the text is over the budget.
type Trimmer[Out any] interface{ Trim(budget int) Out }

// Metaer is an Out that says something to programs beside its text. Meta returns
// what goes into the result's _meta, nil for nothing; keys carry the vendor prefix.
type Metaer interface{ Meta() map[string]any }

// Keeper is an Out of a tool with a Cache. Keep reports whether it rests on nothing but
// what the generation of the workspace counts; else it is not given again.
type Keeper interface{ Keep() bool }

// MetaNext is the key, in the Meta of a page that is not the last, of the arguments that
// differ in the call for the next page.
const MetaNext = "toolcrib/next"

// More is embedded in an Out that may be one page of several.
type More struct {
	Next map[string]any // the arguments that differ in the call for the next page; nil = it is the last
}

// NextAt says which argument differs in the call for the next page, and its value.
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
