package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"
)

// keyLength is that of a key in characters.
const keyLength = 24

// Key is a digest of all values on which a server's behavior depends, and its user. Equal
// values have one key, in every process of a user. Functions and channels have none: a
// value that holds one is an error of the programmer, and panics.
func Key(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		digest(h, reflect.ValueOf(v))
	}
	return hex.EncodeToString(h.Sum(nil))[:keyLength]
}

// digest writes a value so that no other is written alike.
func digest(h hash.Hash, v reflect.Value) {
	if !v.IsValid() {
		write(h, "nil")
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			write(h, "nil")
			return
		}
		digest(h, v.Elem())
	case reflect.Struct:
		write(h, fmt.Sprintf("struct %d", v.NumField()))
		for _, field := range v.Fields() {
			digest(h, field)
		}
	case reflect.Slice, reflect.Array:
		write(h, fmt.Sprintf("list %d", v.Len()))
		for i := range v.Len() {
			digest(h, v.Index(i))
		}
	case reflect.Map:
		digestMap(h, v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		panic("daemon: a " + v.Kind().String() + " has no digest")
	default: // Sprint reads unexported fields too
		write(h, v.Kind().String()+" "+fmt.Sprint(v))
	}
}

func digestMap(h hash.Hash, v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch x, y := fmt.Sprint(a), fmt.Sprint(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	write(h, fmt.Sprintf("map %d", len(keys)))
	for _, key := range keys {
		digest(h, key)
		digest(h, v.MapIndex(key))
	}
}

// write writes a text after its length.
func write(h hash.Hash, text string) {
	_, _ = io.WriteString(h, fmt.Sprintf("%d:%s", len(text), text)) // a Hash takes everything
}
