package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
)

// Bounds of keys.
const (
	maxKeys                = 64
	minModulus, maxModulus = 2048, 8192 // bits
)

// key is a public key of an issuer.
type key struct {
	id         string
	public     crypto.PublicKey
	algorithms []string // that it may be used with
}

// fits reports whether the key may have made a signature of an algorithm.
func (k key) fits(alg string) bool { return slices.Contains(k.algorithms, alg) }

// webKey is a key as RFC 7517 writes it.
type webKey struct {
	Kty    string   `json:"kty"`
	Use    string   `json:"use"`
	KeyOps []string `json:"key_ops"`
	Alg    string   `json:"alg"`
	Kid    string   `json:"kid"`
	Crv    string   `json:"crv"`
	N      string   `json:"n"`
	E      string   `json:"e"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
}

// parseKeys returns the keys of a set that can prove signatures; others (of other
// types, for encryption, too small) are left out, as RFC 7517 wants it.
func parseKeys(raw []json.RawMessage) []key {
	var keys []key
	for _, text := range raw[:min(len(raw), maxKeys)] {
		var w webKey
		if err := json.Unmarshal(text, &w); err != nil {
			continue
		}
		if k, err := w.key(); err == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

var (
	errUse   = errors.New("not for signatures")
	errWeak  = errors.New("too small or too large")
	errKind  = errors.New("of an unknown type")
	errPoint = errors.New("not a point of its curve")
)

func (w webKey) key() (k key, err error) {
	if w.Use != "" && w.Use != "sig" || w.KeyOps != nil && !slices.Contains(w.KeyOps, "verify") {
		return k, errUse
	}
	k.id = w.Kid
	switch w.Kty {
	case "RSA":
		k.public, err = w.rsa()
		k.algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case "EC":
		k.public, k.algorithms, err = w.ecdsa()
	case "OKP":
		k.public, err = w.ed25519()
		k.algorithms = []string{"EdDSA"}
	default:
		err = errKind
	}
	if w.Alg != "" && err == nil {
		if !k.fits(w.Alg) {
			return k, errUse
		}
		k.algorithms = []string{w.Alg}
	}
	return k, err
}

func (w webKey) rsa() (*rsa.PublicKey, error) {
	n, err := decode(w.N)
	if err != nil {
		return nil, err
	}
	e, err := decode(w.E)
	if err != nil {
		return nil, err
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n)}
	exponent := new(big.Int).SetBytes(e)
	if bits := public.N.BitLen(); bits < minModulus || bits > maxModulus || exponent.BitLen() > 31 || exponent.Bit(0) == 0 || exponent.Int64() < 3 {
		return nil, errWeak
	}
	public.E = int(exponent.Int64())
	return public, nil
}

func (w webKey) ecdsa() (*ecdsa.PublicKey, []string, error) {
	curve, alg := elliptic.Curve(nil), ""
	switch w.Crv {
	case "P-256":
		curve, alg = elliptic.P256(), "ES256"
	case "P-384":
		curve, alg = elliptic.P384(), "ES384"
	case "P-521":
		curve, alg = elliptic.P521(), "ES512"
	default:
		return nil, nil, errKind
	}
	x, err := decode(w.X)
	if err != nil {
		return nil, nil, err
	}
	y, err := decode(w.Y)
	if err != nil {
		return nil, nil, err
	}
	size := (curve.Params().BitSize + 7) / 8
	if len(x) != size || len(y) != size {
		return nil, nil, errPoint
	}
	public, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	return public, []string{alg}, err
}

func (w webKey) ed25519() (ed25519.PublicKey, error) {
	if w.Crv != "Ed25519" {
		return nil, errKind
	}
	x, err := decode(w.X)
	if err == nil && len(x) != ed25519.PublicKeySize {
		err = errPoint
	}
	return x, err
}

func decode(text string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(text) }
