package egress

import (
	"bytes"
	"io"
	"testing"
)

// FuzzSOCKS reads a request of a program that has shown its pass.
func FuzzSOCKS(f *testing.F) {
	f.Add([]byte{5, 1, 0, 1, 8, 8, 8, 8, 0, 80})
	f.Add([]byte{5, 1, 0, 3, 6, 'a', '.', 't', 'e', 's', 't', 0, 80})
	f.Add(append([]byte{5, 1, 0, 4}, make([]byte, 18)...))
	f.Add([]byte{5, 2, 0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, code, err := readSOCKS(bytes.NewReader(data))
		if err == nil && (code != 0 || got.Port == 0 || (got.Name == "") == !got.Addr.IsValid()) {
			t.Fatalf("%+v, %d", got, code)
		}
		g := new(Proxy).Gate()
		if pass, _ := greet(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(data), io.Discard}, g); pass != nil {
			t.Fatal("a pass for nothing")
		}
	})
}
