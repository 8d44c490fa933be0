package server

import "encoding/json"

// The functions below walk JSON that encoding/json has already found valid, so
// they only have to find where a value ends.

// maxMembers is the most members of an object that is taken apart.
const maxMembers = 1000

// split returns the members of a JSON object; one more than maxMembers where
// there are too many.
func split(object json.RawMessage) members {
	var out members
	for i := next(object, 1); object[i] != '}' && len(out) <= maxMembers; {
		end := valueEnd(object, i)
		key := unquote(object[i:end])
		i = next(object, next(object, end)+1) // over the colon
		end = valueEnd(object, i)
		out = append(out, member{key, object[i:end]})
		if i = next(object, end); object[i] == ',' {
			i = next(object, i+1)
		}
	}
	return out
}

// elements returns the elements of a JSON array, at most limit of them; more
// reports that there are others.
func elements(array json.RawMessage, limit int) (out []json.RawMessage, more bool) {
	for i := next(array, 1); array[i] != ']'; {
		if len(out) == limit {
			return out, true
		}
		end := valueEnd(array, i)
		out = append(out, array[i:end])
		if i = next(array, end); array[i] == ',' {
			i = next(array, i+1)
		}
	}
	return out, false
}

// next returns the first index from i on that is not white space.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		depth := 0
		for ; ; i++ {
			switch b[i] {
			case '"':
				i = stringEnd(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote returns the text of a JSON string.
func unquote(raw json.RawMessage) string {
	for _, c := range raw {
		if c == '\\' {
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				return string(raw) // not reached: raw is a valid string
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}
