package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// pick is what a dotted path finds in a JSON text: strings as they are,
// everything else as compact JSON, "absent" when there is nothing. A segment
// is a field, an index, name=value for the first element of an array with
// that field, "len" for a length (of a string: in characters) and "keys" for the sorted names of an object.
// A text of several lines is an array of values.
func pick(ts *testscript.TestScript, text, path string) string {
	v, err := decode(text)
	if err != nil {
		ts.Fatalf("not JSON: %v: %q", err, cut(text))
	}
	for seg := range strings.SplitSeq(path, ".") {
		if seg == "" {
			continue
		}
		var ok bool
		if v, ok = step(v, seg); !ok {
			return "absent"
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	ts.Check(err)
	return string(raw)
}

func decode(text string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var all []any
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	switch len(all) {
	case 0:
		return nil, fmt.Errorf("empty")
	case 1:
		return all[0], nil
	}
	return all, nil
}

func step(v any, seg string) (any, bool) {
	switch v := v.(type) {
	case string:
		return json.Number(strconv.Itoa(utf8.RuneCountInString(v))), seg == "len"
	case map[string]any:
		if seg == "keys" {
			var names []string
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			return strings.Join(names, ","), true
		}
		x, ok := v[seg]
		return x, ok
	case []any:
		return element(v, seg)
	}
	return nil, false
}

func element(list []any, seg string) (any, bool) {
	if seg == "len" {
		return json.Number(strconv.Itoa(len(list))), true
	}
	if name, want, ok := strings.Cut(seg, "="); ok {
		for _, x := range list {
			if m, ok := x.(map[string]any); ok && m[name] == want {
				return x, true
			}
		}
		return nil, false
	}
	i, err := strconv.Atoi(seg)
	if err != nil || i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}
