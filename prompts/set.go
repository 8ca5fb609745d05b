package prompts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Set is the texts in use: the embedded ones, or those of a folder over them.
type Set struct {
	dir string
}

// Default is the embedded texts.
func Default() *Set { return &Set{} }

// Load is the embedded texts with the files of dir (NAME.txt) over them. A
// missing folder is no error. A file is read when it is first needed; one that
// cannot be read, or lacks a placeholder that carries the content, is an error
// then, never silently the default.
func Load(dir string) *Set { return &Set{dir: dir} }

// Embedded is where a text comes from that no file replaces.
const Embedded = "embedded"

// MaxFile is the most bytes a file of the folder may have.
const MaxFile = 64 << 10

// Error says what is wrong with a text, and what to do.
type Error struct {
	File string // the file, or the name when there is none of that name
	Why  string
	Hint string
	Err  error // of the file system; nil for a rule that is broken
}

func (e *Error) Error() string { return "prompt " + e.File + " " + e.Why }

func (e *Error) Unwrap() error { return e.Err }

// Remedy says what to do.
func (e *Error) Remedy() string { return e.Hint }

// Names are the names of all texts, in the order in which people see them.
func Names() []string {
	var names []string
	for _, t := range all() {
		names = append(names, t.name)
	}
	return names
}

// About says in a few words when a text is used; "" for a name that is none.
func About(name string) string {
	t, _ := find(name)
	return t.about
}

func find(name string) (embedded, bool) {
	for _, t := range all() {
		if t.name == name {
			return t, true
		}
	}
	return embedded{}, false
}

// Text is the text of a name as it is in use, its placeholders not replaced,
// without the newline at its end; from is the file it comes from, or Embedded.
// The error is an *Error.
func (s *Set) Text(name string) (text, from string, err error) {
	t, ok := find(name)
	if !ok {
		return "", "", &Error{File: strconv.Quote(name), Why: "does not exist", Hint: "claw config prompts lists the names"}
	}
	if s.dir != "" {
		file := filepath.Join(s.dir, name+".txt")
		text, err = read(file, t)
		if !errors.Is(err, fs.ErrNotExist) {
			return text, file, err
		}
	}
	return tidy(t.text), Embedded, nil
}

func read(file string, t embedded) (string, error) {
	text, err := load(file)
	if err != nil {
		return "", &Error{
			File: file, Why: "cannot be read: " + reason(err), Err: err,
			Hint: "make it readable, or remove it: claw then uses its own text",
		}
	}
	if why := broken(text, t.needs); why != "" {
		return "", &Error{File: file, Why: why, Hint: "start from claw's own text: claw config prompts show " + t.name + " --embedded"}
	}
	return tidy(text), nil
}

func load(file string) (string, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(file); linkErr == nil {
			return "", errors.New("it is a link to nothing")
		}
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	if info.Size() > MaxFile {
		return "", errors.New("it has more than " + strconv.Itoa(MaxFile) + " bytes")
	}
	b, err := os.ReadFile(file)
	return string(b), err
}

// reason is the system's word, without the path that is named already.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// broken says which rule a text breaks.
func broken(text, needs string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.ContainsRune(text, 0):
		return "contains a NUL"
	case strings.TrimSpace(strings.TrimPrefix(text, bom)) == "":
		return "is blank"
	case !strings.Contains(text, needs):
		return "lacks " + needs + ", so that the agent would not see what it is about"
	}
	return ""
}

const bom = "\ufeff"

// tidy takes off what editors add.
func tidy(text string) string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, bom), "\r\n", "\n")
	return strings.TrimRight(text, " \t\n")
}

// Check reads every file of the folder and returns what is wrong: a file that
// is not fit to be used, or a *.txt that replaces nothing.
func (s *Set) Check() []*Error {
	if s.dir == "" {
		return nil
	}
	var wrong []*Error
	names := Names()
	for _, name := range names {
		_, _, err := s.Text(name)
		if e, ok := errors.AsType[*Error](err); ok {
			wrong = append(wrong, e)
		}
	}
	files, _ := os.ReadDir(s.dir) // a folder that cannot be read fails every text of it
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".txt")
		if ok && !slices.Contains(names, name) {
			wrong = append(wrong, &Error{
				File: filepath.Join(s.dir, f.Name()), Why: "replaces nothing",
				Hint: "claw config prompts lists the names",
			})
		}
	}
	return wrong
}
