package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// maxNumber bounds a number's digits and its exponent: validators compute with exact
// rationals, in which 1e999999999 takes a gigabyte.
const maxNumber = 400

// number keeps a number of JSON as written and turns the forms of JSON5 (+1, .5, 5., 0x1F)
// into JSON.
func (p *parser) number() (any, error) {
	start := p.i
	sign := ""
	if c := p.peek(); c == '-' || c == '+' {
		p.loose = p.loose || c == '+'
		if p.i++; c == '-' {
			sign = "-"
		}
	}
	var text string
	if rest := p.s[p.i:]; strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, "0X") {
		p.loose = true
		p.i += 2
		digits := p.run(isHex)
		n, ok := new(big.Int).SetString(digits[:min(len(digits), maxNumber)], 16)
		if !ok {
			return nil, p.unexpected()
		}
		text = sign + n.String()
	} else {
		whole := p.run(isDigit)
		point := p.peek() == '.'
		var fraction string
		if point {
			p.i++
			fraction = p.run(isDigit)
		}
		if whole == "" && fraction == "" {
			return nil, p.unexpected()
		}
		if len(whole) > 1 && whole[0] == '0' {
			p.i = start
			return nil, p.fail("number with a leading zero")
		}
		exponent, err := p.exponent()
		if err != nil {
			return nil, err
		}
		if text = p.s[start:p.i]; !isNumber(text) {
			p.loose = true
			if fraction != "" {
				fraction = "." + fraction
			}
			if whole == "" {
				whole = "0"
			}
			text = sign + whole + fraction + exponent
		}
	}
	if !inRange(text) {
		p.i = start
		return nil, p.fail("number out of range")
	}
	return json.Number(text), nil
}

func (p *parser) exponent() (string, error) {
	start := p.i
	if c := p.peek(); c != 'e' && c != 'E' {
		return "", nil
	}
	p.i++
	if c := p.peek(); c == '+' || c == '-' {
		p.i++
	}
	if p.run(isDigit) == "" {
		return "", p.unexpected()
	}
	return p.s[start:p.i], nil
}

func (p *parser) run(in func(byte) bool) string {
	start := p.i
	for p.i < len(p.s) && in(p.s[p.i]) {
		p.i++
	}
	return p.s[start:p.i]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isNumber reports whether text is a number of strict JSON.
func isNumber(text string) bool {
	p := parser{s: text}
	if p.peek() == '-' {
		p.i++
	}
	whole := p.run(isDigit)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if p.peek() == '.' {
		p.i++
		if p.run(isDigit) == "" {
			return false
		}
	}
	_, err := p.exponent()
	return err == nil && p.i == len(text)
}

// inRange reports whether a number of JSON has a size that float64, exact arithmetic and
// later readers can all take.
func inRange(text string) bool {
	if len(text) <= 15 && !strings.ContainsAny(text, "eE") {
		return true
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if n, err := strconv.Atoi(text[i+1:]); err != nil || n > maxNumber || n < -maxNumber {
			return false
		}
	}
	_, err := strconv.ParseFloat(text, 64)
	return len(text) <= maxNumber && err == nil
}

// integral returns an integer written as a float (3.0, 1e3, -0) as the integer. ok is false
// if n is none; same reports that it was written as one.
func integral(n json.Number) (whole json.Number, same, ok bool) {
	text := string(n)
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		return n, true, true
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return n, false, false
	}
	return json.Number(r.Num().String()), false, true
}
