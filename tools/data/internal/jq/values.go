package jq

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolcrib/tools/internal/jsondoc"
)

// values converts documents to values of gojq and back.
type values struct {
	order      map[uintptr][]string // of the keys of the input's objects, by the address of the map
	calculated bool                 // a result has as many digits as floating point keeps

	style jsondoc.Style
	room  int // bytes that the values of a result still have, their indents alone
}

// input returns a value for gojq.
func (q *values) input(n *jsondoc.Node) any {
	switch n.Kind {
	case jsondoc.Object:
		obj := make(map[string]any, len(n.Members))
		var keys []string
		for _, m := range n.Unique() {
			obj[m.Key] = q.input(m.Value)
			keys = append(keys, m.Key)
		}
		q.order[reflect.ValueOf(obj).Pointer()] = keys
		return obj
	case jsondoc.Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = q.input(item)
		}
		return list
	case jsondoc.String:
		return n.Text
	case jsondoc.Number:
		return json.Number(n.Raw)
	case jsondoc.Boolean:
		return n.Raw == "true"
	}
	return nil
}

// node returns a result of gojq as a document. An object of the input has its keys in their
// order, one that the filter made has them sorted.
func (q *values) node(v any, depth int) (*jsondoc.Node, error) {
	if depth > jsondoc.MaxDepth {
		return nil, errDepth
	}
	if q.room -= depth*len(q.style.Indent) + 1; q.room < 0 && q.style.Most > 0 {
		return nil, errLong
	}
	n := &jsondoc.Node{Kind: jsondoc.Number}
	switch v := v.(type) {
	case bool:
		n.Kind, n.Raw = jsondoc.Boolean, strconv.FormatBool(v)
	case string:
		n.Kind, n.Text, n.Raw = jsondoc.String, v, jsondoc.Quote(v)
	case int:
		n.Raw = strconv.Itoa(v)
	case *big.Int:
		n.Raw = v.String()
	case json.Number:
		n.Raw = v.String()
	case float64:
		if math.IsNaN(v) {
			return q.node(nil, depth)
		}
		if strings.IndexByte(strconv.FormatFloat(v, 'e', -1, 64), 'e') > 15 { // all digits that there are
			q.calculated = true
		}
		text, err := json.Marshal(min(max(v, -math.MaxFloat64), math.MaxFloat64)) // infinity as jq writes it
		n.Raw = string(text)
		return n, err
	case []any:
		n.Kind = jsondoc.Array
		for _, item := range v {
			child, err := q.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, child)
		}
	case map[string]any:
		n.Kind = jsondoc.Object
		keys, known := q.order[reflect.ValueOf(v).Pointer()]
		if !known {
			keys = slices.Sorted(maps.Keys(v))
		}
		for _, k := range keys {
			child, err := q.node(v[k], depth+1)
			if err != nil {
				return nil, err
			}
			n.Members = append(n.Members, jsondoc.Member{Key: k, Raw: jsondoc.Quote(k), Value: child})
		}
	default:
		n.Kind, n.Raw = jsondoc.Null, "null"
	}
	return n, nil
}
