package ole_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/ole"
)

// sealed encrypts a file as [MS-OFFCRYPTO] 2.3.4.11 to 2.3.4.15 say.
func sealed(t *testing.T, file []byte, password string) []byte {
	t.Helper()
	const spins = 1000
	sum := func(parts ...[]byte) []byte {
		s := sha512.Sum512(bytes.Join(parts, nil))
		return s[:]
	}
	number := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
	encrypt := func(key, iv, text []byte) []byte {
		c, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		out := append(bytes.Clone(text), make([]byte, -len(text)&15)...)
		cipher.NewCBCEncrypter(c, iv[:16]).CryptBlocks(out, out)
		return out
	}
	keySalt, dataSalt, key, input := []byte("salt of the key."), []byte("salt of the data"), bytes.Repeat([]byte("key!"), 8), []byte("verifier's input")
	h := sum(keySalt, wide(password))
	for i := range spins {
		h = sum(number(i), h)
	}
	under := func(purpose string, text []byte) string {
		return base64.StdEncoding.EncodeToString(encrypt(sum(h, []byte(purpose))[:32], keySalt, text))
	}
	const same = `saltSize="16" blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" hashAlgorithm="SHA512" saltValue="%s"`
	info := append([]byte{4, 0, 4, 0, 0x40, 0, 0, 0}, fmt.Sprintf(`<?xml version="1.0"?><encryption xmlns="http://schemas.microsoft.com/office/2006/encryption" xmlns:p="http://schemas.microsoft.com/office/2006/keyEncryptor/password"><keyData `+same+`/><keyEncryptors><keyEncryptor uri="x"><p:encryptedKey spinCount="%d" `+same+` encryptedVerifierHashInput="%s" encryptedVerifierHashValue="%s" encryptedKeyValue="%s"/></keyEncryptor></keyEncryptors></encryption>`,
		base64.StdEncoding.EncodeToString(dataSalt), spins, base64.StdEncoding.EncodeToString(keySalt),
		under("\xfe\xa7\xd2\x76\x3b\x4b\x9e\x79", input), under("\xd7\xaa\x0f\x6d\x30\x61\x34\x4e", sum(input)), under("\x14\x6e\x0b\xe7\xab\xac\xd0\xd6", key))...)
	packed := binary.LittleEndian.AppendUint64(nil, uint64(len(file)))
	for n := 0; n*4096 < len(file); n++ {
		packed = append(packed, encrypt(key, sum(dataSalt, number(n)), file[n*4096:min((n+1)*4096, len(file))])...)
	}
	return compound(stream{"EncryptionInfo", info}, stream{"EncryptedPackage", packed})
}

func TestPassword(t *testing.T) {
	file := bytes.Repeat([]byte("a file of three segments "), 400)
	data := sealed(t, file, "öffne dich")
	for _, c := range []struct{ password, say string }{
		{"öffne dich", ""}, {"offne dich", "the password does not open it"}, {"", "it needs a password"},
	} {
		var got []byte
		r := ole.Reader{Package: func(src document.Source, budget *document.Budget) (*document.Document, error) {
			var err error
			got, err = src.Bytes(budget)
			return &document.Document{}, err
		}}
		src := document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Password: c.password}
		_, err := r.Read(src, document.NewBudget(t.Context(), document.Standard()))
		switch {
		case c.say != "":
			if !document.Is(err, document.Encrypted) || err.Error() != c.say {
				t.Errorf("%q: %v, want %s", c.password, err, c.say)
			}
		case err != nil || !bytes.Equal(got, file):
			t.Errorf("%q: %d bytes, %v", c.password, len(got), err)
		}
	}
	for cut := 0; cut < len(data); cut += 97 { // a damaged file is an error, and no panic
		damaged := bytes.Clone(data)
		damaged[cut] ^= 0x55
		src := document.Source{ReaderAt: bytes.NewReader(damaged), Size: int64(len(damaged)), Password: "öffne dich"}
		_, _ = ole.Reader{Package: func(document.Source, *document.Budget) (*document.Document, error) { return nil, nil }}.Read(src, document.NewBudget(t.Context(), document.Standard()))
	}
}
