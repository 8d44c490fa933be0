// Package vector makes vectors of texts that know of their meaning: it asks an endpoint in the
// form of OpenAI's, or looks tokens up in a table of the user.
//
// Texts of like meaning have vectors of like direction. The built-in vectors, which know only
// how words are spelt, are those of internal/rank. The package imports the client for HTTP and
// its sibling rank, and must not import the index. Start at [Model], then [Endpoint] and [Table].
package vector

import (
	"context"

	"toolcrib/tools/documents/internal/rank"
)

// Model makes vectors.
type Model interface {
	// Name names what makes the vectors: those of other names are not compared with them.
	Name() string
	// Batch returns how many of the texts, from the first on, are made vectors at once; at
	// least 1 if there is one.
	Batch(texts []string) int
	// Vectors returns the vectors of texts in their order, all of one length: those of the
	// first texts alone if an error ends the work.
	Vectors(ctx context.Context, texts []string) ([][]int8, error)
}

// packed returns vectors as the index keeps them.
func packed(vectors [][]float32) [][]int8 {
	all := make([][]int8, len(vectors))
	for i, v := range vectors {
		all[i] = rank.Pack(v)
	}
	return all
}
