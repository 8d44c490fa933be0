package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// KeySize is how many bytes a key has.
const KeySize = 32

// Key returns the secret key of that name: KeySize random bytes, made at the first call of
// any process and the same ever after. A key file of another size is an error and never
// replaced, since all that the key sealed would be lost.
func (d *Dir) Key(ctx context.Context, name string) (_ []byte, err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	path := d.file(name + ".key")
	if key, err := readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	lock, err := d.Lock(ctx, "keys")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if key, err := readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key := make([]byte, KeySize)
	rand.Read(key)
	return key, writeKey(path, key)
}

// HasKey reports whether a key was made.
func (d *Dir) HasKey(name string) bool {
	_, err := os.Stat(d.file(name + ".key"))
	return err == nil
}

func readKey(path string) ([]byte, error) {
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(key) != KeySize {
		return nil, fmt.Errorf("key file %s has %d bytes instead of %d", path, len(key), KeySize)
	}
	return key, nil
}

// writeKey writes a whole key or none.
func writeKey(path string, key []byte) error {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
