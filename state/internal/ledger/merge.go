package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Carry gives next the fields of prev that a program whose type is T does not
// know: those that are lost when prev goes through T. Objects are compared
// field by field at every depth; an array is one value.
func Carry[T any](prev, next []byte) []byte {
	through := known[T](prev)
	if through == nil || bytes.Equal(through, prev) {
		return next
	}
	return Merge(prev, through, next)
}

// known is prev as T writes it; nil when T cannot read it.
func known[T any](prev []byte) []byte {
	var v T
	if json.Unmarshal(prev, &v) != nil {
		return nil
	}
	b, err := Encode(v)
	if err != nil {
		return nil
	}
	return b
}

// Encode is compact JSON as jq -c writes it: without the escapes for HTML.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Merge appends to the object next every field of prev that is neither in
// through nor in next. Whatever is not an object is next as it stands.
func Merge(prev, through, next []byte) []byte {
	p, err1 := splitObject(prev)
	t, err2 := splitObject(through)
	n, err3 := splitObject(next)
	if err1 != nil || err2 != nil || err3 != nil {
		return next
	}
	for _, f := range p {
		was, is := find(t, f.key), find(n, f.key)
		switch {
		case was == nil && is == nil:
			n = append(n, f)
		case was != nil && is != nil:
			is.value = Merge(f.value, was.value, is.value)
		}
	}
	return joinObject(n)
}

// field is one field of an object, its value as written.
type field struct {
	key   string
	value []byte
}

func find(fields []field, key string) *field {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

var errNotObject = errors.New("not a JSON object")

// splitObject reads the fields of an object in their order.
func splitObject(b []byte) ([]field, error) {
	if len(b) == 0 || b[0] != '{' {
		return nil, errNotObject
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var fields []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		fields = append(fields, field{key.(string), value})
	}
	return fields, nil
}

func joinObject(fields []field) []byte {
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendString(b, f.key), ':'), f.value...)
	}
	return append(b, '}')
}
