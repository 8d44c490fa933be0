package ole

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha1" //nolint:gosec // the format has it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"hash"
	"unicode/utf16"

	"toolcrib/tools/internal/document"
)

// The encryption of files of Office is that of [MS-OFFCRYPTO]: 2.3.4.5 of 2007, which is
// called standard, and 2.3.4.10 of later ones, which is called agile.

var (
	errNeedsPassword = &document.Error{Cause: document.Encrypted, Say: "it needs a password", Opens: true}
	errWrongPassword = &document.Error{Cause: document.Encrypted, Say: "the password does not open it", Opens: true}
	errOtherCipher   = &document.Error{Cause: document.Encrypted, Say: "it is encrypted in a way that cannot be opened here"}
)

// decrypted returns the file in a compound file with a password.
func (c *compound) decrypted(password string) ([]byte, error) {
	info, sealed := c.stream("EncryptionInfo"), c.stream("EncryptedPackage")
	if len(info) < 12 || len(sealed) < 8 {
		return nil, document.Errorf(document.Truncated, "the encrypted file is missing")
	}
	if password == "" {
		return nil, errNeedsPassword
	}
	var secret []byte
	for _, unit := range utf16.Encode([]rune(password)) {
		secret = binary.LittleEndian.AppendUint16(secret, unit)
	}
	size := binary.LittleEndian.Uint64(sealed)
	sealed = sealed[8:]
	open := standard
	switch major, minor := binary.LittleEndian.Uint16(info), binary.LittleEndian.Uint16(info[2:]); {
	case major == 4 && minor == 4:
		open = agile
	case minor != 2:
		return nil, errOtherCipher
	}
	data, err := open(info, sealed, secret, c.budget)
	if err != nil {
		return nil, err
	}
	return data[:min(size, uint64(len(data)))], nil
}

// spun hashes a password so often that guessing takes long.
func spun(make func() hash.Hash, salt, secret []byte, spins int, budget *document.Budget) ([]byte, error) {
	h := make()
	h.Write(salt)
	h.Write(secret)
	sum := h.Sum(nil)
	var count [4]byte
	for i := range spins {
		if i%10_000 == 0 && budget.Err() != nil {
			return nil, budget.Err()
		}
		binary.LittleEndian.PutUint32(count[:], uint32(i))
		h.Reset()
		h.Write(count[:])
		h.Write(sum)
		sum = h.Sum(sum[:0])
	}
	return sum, nil
}

// standard decrypts a file of Office 2007: AES by single blocks, with a key made by SHA-1.
func standard(info, sealed, secret []byte, budget *document.Budget) ([]byte, error) {
	const (
		spins = 50_000
		block = aes.BlockSize
	)
	skip := int64(binary.LittleEndian.Uint32(info[8:])) + 12
	if skip < 12+32 || skip+72 > int64(len(info)) {
		return nil, errOtherCipher
	}
	algorithm, bits := binary.LittleEndian.Uint32(info[20:]), binary.LittleEndian.Uint32(info[28:])
	if algorithm>>8 != 0x66 || bits != 128 && bits != 192 && bits != 256 {
		return nil, errOtherCipher
	}
	verifier := info[skip:]
	salt, input, want := verifier[4:20], bytes.Clone(verifier[20:36]), bytes.Clone(verifier[40:72])
	sum, err := spun(sha1.New, salt, secret, spins, budget)
	if err != nil {
		return nil, err
	}
	first := sha1.Sum(append(sum, 0, 0, 0, 0)) //nolint:gosec // likewise
	var key []byte
	for _, pad := range []byte{0x36, 0x5C} {
		text := bytes.Repeat([]byte{pad}, 64)
		subtle.XORBytes(text, text, first[:])
		half := sha1.Sum(text) //nolint:gosec // likewise
		key = append(key, half[:]...)
	}
	c, err := aes.NewCipher(key[:bits/8])
	if err != nil {
		return nil, err
	}
	blocks := func(data []byte) []byte {
		data = data[:len(data)/block*block]
		for at := 0; at < len(data); at += block {
			c.Decrypt(data[at:], data[at:])
		}
		return data
	}
	if got := sha1.Sum(blocks(input)); !bytes.Equal(got[:], blocks(want)[:sha1.Size]) { //nolint:gosec // likewise
		return nil, errWrongPassword
	}
	return blocks(sealed), nil
}

// agileInfo says how a file of Office 2010 and later is encrypted.
type agileInfo struct {
	Data agileKey `xml:"keyData"`
	Keys []struct {
		Spins int    `xml:"spinCount,attr"`
		Input string `xml:"encryptedVerifierHashInput,attr"`
		Sum   string `xml:"encryptedVerifierHashValue,attr"`
		Key   string `xml:"encryptedKeyValue,attr"`
		agileKey
	} `xml:"keyEncryptors>keyEncryptor>encryptedKey"`
}

type agileKey struct {
	Block    int    `xml:"blockSize,attr"`
	Bits     int    `xml:"keyBits,attr"`
	Cipher   string `xml:"cipherAlgorithm,attr"`
	Chaining string `xml:"cipherChaining,attr"`
	Hash     string `xml:"hashAlgorithm,attr"`
	Salt     string `xml:"saltValue,attr"`
}

// make returns the hash function; nil = the key is of a kind that is not known here.
func (k agileKey) make() func() hash.Hash {
	if k.Cipher != "AES" || k.Chaining != "ChainingModeCBC" || k.Block != aes.BlockSize || k.Bits != 128 && k.Bits != 192 && k.Bits != 256 {
		return nil
	}
	switch k.Hash {
	case "SHA1", "SHA-1":
		return sha1.New
	case "SHA256", "SHA-256":
		return sha256.New
	case "SHA384", "SHA-384":
		return sha512.New384
	case "SHA512", "SHA-512":
		return sha512.New
	}
	return nil
}

// sized cuts a text to a size, or fills it up.
func sized(text []byte, size int) []byte {
	for len(text) < size {
		text = append(text, 0x36)
	}
	return text[:size]
}

// chained decrypts whole blocks by AES in CBC mode.
func chained(key, start, data []byte) ([]byte, error) {
	c, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	data = data[:len(data)/aes.BlockSize*aes.BlockSize]
	cipher.NewCBCDecrypter(c, sized(start, aes.BlockSize)).CryptBlocks(data, data)
	return data, nil
}

// agile decrypts a file of Office 2010 and later.
func agile(info, sealed, secret []byte, budget *document.Budget) ([]byte, error) {
	const (
		mostSpins = 1_000_000
		segment   = 4096
	)
	var a agileInfo
	if err := xml.Unmarshal(info[8:], &a); err != nil || len(a.Keys) == 0 {
		return nil, errOtherCipher
	}
	k := a.Keys[0]
	ofKey, ofData := k.make(), a.Data.make()
	if ofKey == nil || ofData == nil || k.Spins < 0 || k.Spins > mostSpins {
		return nil, errOtherCipher
	}
	salt, dataSalt := decoded(k.Salt), decoded(a.Data.Salt)
	sum, err := spun(ofKey, salt, secret, k.Spins, budget)
	if err != nil {
		return nil, err
	}
	unlock := func(purpose, text string) ([]byte, error) {
		h := ofKey()
		h.Write(sum)
		h.Write([]byte(purpose))
		return chained(sized(h.Sum(nil), k.Bits/8), bytes.Clone(salt), decoded(text))
	}
	input, err := unlock("\xfe\xa7\xd2\x76\x3b\x4b\x9e\x79", k.Input)
	if err != nil {
		return nil, err
	}
	want, err := unlock("\xd7\xaa\x0f\x6d\x30\x61\x34\x4e", k.Sum)
	if err != nil {
		return nil, err
	}
	h := ofKey()
	h.Write(input)
	if got := h.Sum(nil); len(want) < len(got) || !bytes.Equal(got, want[:len(got)]) {
		return nil, errWrongPassword
	}
	key, err := unlock("\x14\x6e\x0b\xe7\xab\xac\xd0\xd6", k.Key)
	if err != nil {
		return nil, err
	}
	key = sized(key, a.Data.Bits/8)
	for n := 0; n*segment < len(sealed); n++ {
		h := ofData()
		h.Write(dataSalt)
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
		if _, err := chained(key, h.Sum(nil), sealed[n*segment:min((n+1)*segment, len(sealed))]); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// decoded decodes base64; what is damaged ends early.
func decoded(text string) []byte {
	data, _ := base64.StdEncoding.DecodeString(text)
	return data
}
