package database

import (
	"context"
	"crypto/sha256"

	"toolcrib/tools"
)

// Owner is whose a part of the state is. Nobody else sees it.
type Owner struct {
	Principal string
	Root      string // its canonical name; "" = it is of all roots
}

// OwnerOf returns the owner of the state of a call, in its first root or in all.
func OwnerOf(ctx context.Context, everywhere bool) Owner {
	s := tools.Session(ctx)
	if everywhere {
		return Owner{Principal: s.Principal}
	}
	return Owner{s.Principal, s.Workspace.Origin()}
}

// Key returns a short name of the owner and of names below it, the same in every process.
func (o Owner) Key(names ...string) []byte {
	h := sha256.New()
	for _, name := range append([]string{o.Principal, o.Root}, names...) {
		h.Write([]byte(name + "\x00"))
	}
	const size = 16
	return h.Sum(nil)[:size]
}
