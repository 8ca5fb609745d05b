package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/state/heartbeat"
	"claw/state/process"
)

// valueError says why a value cannot be used; the key and line are added where
// they are known.
type valueError struct{ text, nearest, hint string }

func (e *valueError) Error() string { return e.text }

func mismatch(raw any, want string) error {
	return &valueError{text: quote(raw) + " is not " + want}
}

// set stores a decoded TOML value at dst, the pointer that belongs to the
// rule's kind. odd says what was changed about it, if anything.
func (r rule) set(dst, raw any, home string) (odd string, err error) {
	switch r.kind {
	case whole:
		return r.setWhole(dst.(*int64), raw)
	case seconds:
		return setSeconds(dst.(*int64), raw)
	case size:
		return "", r.setSize(dst.(*int64), raw)
	case boolean:
		return "", put(dst, raw, "true or false")
	case text, secret:
		return "", put(dst, raw, "a string")
	case list:
		return "", setList(dst.(*[]string), raw)
	case wholes:
		return "", r.setWholes(dst.(*[]int64), raw)
	case span:
		return "", setSpan(dst.(*time.Duration), raw)
	case keep:
		return "", setKeep(dst.(*time.Duration), raw)
	case choice:
		return "", r.setChoice(dst.(*string), raw)
	case choices:
		return "", r.setChoices(dst.(*[]string), raw)
	case path:
		return "", setPath(dst.(*string), raw, home)
	case paths:
		return "", setPaths(dst.(*[]string), raw, home)
	case every:
		return setEvery(dst.(*time.Duration), raw)
	case clock, clockEnd:
		return r.setClock(dst.(*string), raw)
	case argv:
		return "", setArgv(dst.(*[]string), raw)
	case argvs:
		return "", setArgvs(dst.(*[][]string), raw)
	default:
		return "", setEnviron(dst.(*map[string]string), raw)
	}
}

// put stores a value that needs no more than the right type.
func put(dst, raw any, want string) error {
	switch p := dst.(type) {
	case *bool:
		if v, ok := raw.(bool); ok {
			*p = v
			return nil
		}
	case *string:
		if v, ok := raw.(string); ok {
			*p = v
			return nil
		}
	}
	return mismatch(raw, want)
}

func (r rule) setWhole(dst *int64, raw any) (odd string, err error) {
	v, ok := raw.(int64)
	if !ok {
		return "", mismatch(raw, "a whole number")
	}
	bound := min(max(v, r.min), r.max)
	if bound != v && !r.clamp {
		return "", &valueError{text: fmt.Sprintf("%d is out of range (%s)", v, r.limits())}
	}
	*dst = bound
	return moved(v, bound), nil
}

// moved describes a clamped number, or is empty.
func moved(from, to int64) string {
	switch {
	case from < to:
		return fmt.Sprintf("%d is too small; %d is used", from, to)
	case from > to:
		return fmt.Sprintf("%d is too large; %d is used", from, to)
	}
	return ""
}

func setSeconds(dst *int64, raw any) (odd string, err error) {
	v, ok := raw.(int64)
	if !ok {
		return "", mismatch(raw, "a whole number of seconds")
	}
	*dst = min(max(v, 0), timerSeconds)
	if v > timerSeconds {
		odd = moved(v, *dst)
	}
	return odd, nil
}

func (r rule) setSize(dst *int64, raw any) error {
	v, ok := raw.(int64)
	if s, isText := raw.(string); isText {
		n, err := process.ParseSize(s)
		v, ok = n, err == nil
	}
	if !ok {
		return &valueError{text: quote(raw) + " is not a size", hint: `sizes are bytes, or "64MiB", "2 GiB", "500kB"`}
	}
	if v < r.min || v > r.max {
		return &valueError{text: fmt.Sprintf("%s is out of range (%s)", quote(raw), r.limits())}
	}
	*dst = v
	return nil
}

func (r rule) setChoice(dst *string, raw any) error {
	var v string
	if err := put(&v, raw, "a string"); err != nil {
		return err
	}
	if !slices.Contains(r.oneOf, v) {
		return r.notOneOf(v)
	}
	*dst = v
	return nil
}

func (r rule) notOneOf(v string) error {
	if slices.Contains(r.later, v) {
		return &valueError{text: fmt.Sprintf("%q does not exist in claw yet", v), hint: "use " + strings.Join(r.oneOf, " or ")}
	}
	return &valueError{
		text:    fmt.Sprintf("%s is not %s", quote(v), alternatives(r.oneOf)),
		nearest: nearest(v, r.oneOf),
	}
}

// alternatives is `"a", "b" or "c"`.
func alternatives(values []string) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(v))
	}
	return b.String()
}

func (r rule) setChoices(dst *[]string, raw any) error {
	list, err := stringList(raw)
	for _, v := range list {
		if err == nil && !slices.Contains(r.oneOf, v) {
			err = r.notOneOf(v)
		}
	}
	if err == nil {
		*dst = list
	}
	return err
}

func stringList(raw any) ([]string, error) {
	items, ok := raw.([]any)
	if !ok {
		return nil, mismatch(raw, "a list of strings")
	}
	list := make([]string, len(items))
	for i, item := range items {
		if err := put(&list[i], item, "a string, as every item must be"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func setPath(dst *string, raw any, home string) error {
	var v string
	if err := put(&v, raw, "a path"); err != nil {
		return err
	}
	full, err := expand(v, home)
	if err == nil {
		*dst = full
	}
	return err
}

func setPaths(dst *[]string, raw any, home string) error {
	list, err := stringList(raw)
	for i := range list {
		if err == nil {
			list[i], err = expand(list[i], home)
		}
		if err == nil && (list[i] == "" || strings.ContainsRune(list[i], ':')) {
			err = mismatch(list[i], "a directory that can stand in PATH")
		}
	}
	if err == nil {
		*dst = list
	}
	return err
}

// expand makes ~ and ~/… absolute. Relative paths are refused: claw runs in
// whatever directory it is called in.
func expand(p, home string) (string, error) {
	rest, tilde := strings.CutPrefix(p, "~")
	switch {
	case p == "" || filepath.IsAbs(p):
		return p, nil
	case !tilde || rest != "" && rest[0] != '/':
		return "", &valueError{text: quote(p) + " is not an absolute path", hint: "write it from / or ~/"}
	case home == "":
		return "", &valueError{text: quote(p) + " needs a home directory, and there is none", hint: "set HOME, or write it from /"}
	}
	return home + rest, nil
}

// setEvery disables on what it cannot read, as the seeds do (spec 1.1), but
// says so.
func setEvery(dst *time.Duration, raw any) (odd string, err error) {
	switch v := raw.(type) {
	case int64:
		raw = strconv.FormatInt(v, 10)
	case string:
	default:
		return "", mismatch(raw, `a duration such as "30m"`)
	}
	d, ok := heartbeat.ParseEvery(raw.(string))
	*dst = d
	if !ok {
		odd = quote(raw) + ` is not a duration such as "30m"; the heartbeat is off`
	}
	return odd, nil
}

func setList(dst *[]string, raw any) error {
	list, err := stringList(raw)
	if err == nil {
		*dst = list
	}
	return err
}

func (r rule) setWholes(dst *[]int64, raw any) error {
	items, ok := raw.([]any)
	if !ok {
		return mismatch(raw, "a list of whole numbers")
	}
	out := make([]int64, len(items))
	for i, item := range items {
		if _, err := r.setWhole(&out[i], item); err != nil {
			return err
		}
	}
	*dst = out
	return nil
}

// setSpan takes a duration and nothing else.
func setSpan(dst *time.Duration, raw any) error {
	v, ok := raw.(string)
	d, isDuration := heartbeat.ParseEvery(v)
	if _, err := strconv.Atoi(strings.TrimSpace(v)); !ok || !isDuration || d < 0 || err == nil {
		return &valueError{text: quote(raw) + ` is not a duration such as "30m"`, hint: "units are ms, s, m, h and d"}
	}
	*dst = d
	return nil
}

func setKeep(dst *time.Duration, raw any) error {
	if v, ok := raw.(bool); ok && !v {
		*dst = 0
		return nil
	}
	return setSpan(dst, raw)
}

// setClock fails open: a bound that cannot be read is no bound (spec 1.5).
func (r rule) setClock(dst *string, raw any) (odd string, err error) {
	var v string
	if err := put(&v, raw, `a time such as "09:00"`); err != nil {
		return "", err
	}
	if *dst = v; v != "" && !validClock(v, r.kind == clockEnd) {
		*dst = ""
		odd = quote(v) + ` is not a time such as "09:00"; the window is ignored`
	}
	return odd, nil
}

func validClock(v string, end bool) bool {
	if end && v == "24:00" {
		return true
	}
	digit := func(i int) bool { return v[i] >= '0' && v[i] <= '9' }
	return len(v) == 5 && digit(0) && digit(1) && v[2] == ':' && digit(3) && digit(4) && v[:2] < "24" && v[3:] < "60"
}

func setArgv(dst *[]string, raw any) error {
	if s, ok := raw.(string); ok {
		return &valueError{text: quote(s) + " is not a list of strings", hint: `a command is a list, program first: ["claude", "-p"]; ["sh", "-c", "…"] for a shell`}
	}
	list, err := stringList(raw)
	if err != nil {
		return err
	}
	if len(list) > 0 && list[0] == "" {
		return &valueError{text: `"" is not a program`}
	}
	*dst = list
	return nil
}

// setArgvs takes one argv or a list of them.
func setArgvs(dst *[][]string, raw any) error {
	items, ok := raw.([]any)
	if _, nested := first(items).([]any); !ok || !nested {
		items = []any{raw}
	}
	list := make([][]string, len(items))
	for i, item := range items {
		if err := setArgv(&list[i], item); err != nil {
			return err
		}
	}
	*dst = slices.DeleteFunc(list, func(argv []string) bool { return len(argv) == 0 })
	return nil
}

func first(items []any) any {
	if len(items) == 0 {
		return nil
	}
	return items[0]
}

// setEnviron adds over what dst holds, in a map of its own.
func setEnviron(dst *map[string]string, raw any) error {
	table, ok := raw.(map[string]any)
	if !ok {
		return mismatch(raw, "a table of strings")
	}
	merged := maps.Clone(*dst)
	if merged == nil {
		merged = make(map[string]string, len(table))
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v, ok := table[name].(string)
		if !ok {
			return mismatch(table[name], "a string; the value of "+quote(name)+" must be one")
		}
		if name == "" || strings.ContainsAny(name+v, "\x00") || strings.Contains(name, "=") {
			return &valueError{text: quote(name) + " cannot be set in an environment"}
		}
		merged[name] = v
	}
	*dst = merged
	return nil
}

// quote shows a value as a person wrote it, shortened; a table or list by its
// kind.
func quote(raw any) string {
	switch v := raw.(type) {
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:40]) + "…"
		}
		return strconv.Quote(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	case time.Time:
		return "a date"
	}
	return fmt.Sprint(raw)
}
