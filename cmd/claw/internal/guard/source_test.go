package guard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const root = "../../../.."

// The bars of style.md section 5.
const (
	maxFile = 450 // lines
	maxTest = 600 // lines of a file of tests
	maxFunc = 80  // lines, outside of tests
)

// goFiles are the sources of claw, with their syntax.
func goFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	all := map[string]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(fileSet, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		all[path] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var fileSet = token.NewFileSet()

func where(n ast.Node) string {
	p := fileSet.Position(n.Pos())
	return strings.TrimPrefix(p.Filename, root+"/") + ":" + strconv.Itoa(p.Line)
}

func lines(n ast.Node) int {
	return fileSet.Position(n.End()).Line - fileSet.Position(n.Pos()).Line + 1
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for path, file := range goFiles(t) {
		most, isTest := maxFile, strings.HasSuffix(path, "_test.go")
		if isTest {
			most = maxTest
		}
		if n := fileSet.File(file.FileStart).LineCount(); n > most {
			t.Errorf("%s has %d lines, the most is %d", strings.TrimPrefix(path, root+"/"), n, most)
		}
		if isTest {
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && lines(f) > maxFunc {
				t.Errorf("%s: %s has %d lines, the most is %d", where(f), f.Name.Name, lines(f), maxFunc)
			}
		}
	}
}

func TestEverythingExportedIsDescribed(t *testing.T) {
	described := map[string]bool{} // folders whose package has a comment
	for path, file := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		dir := filepath.Dir(path)
		described[dir] = described[dir] || file.Doc != nil
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && onExported(d.Recv) && d.Doc == nil && !wellKnown(d) {
					t.Errorf("%s: %s has no comment", where(d), d.Name.Name)
				}
			case *ast.GenDecl:
				undescribed(t, d)
			}
		}
	}
	for dir, ok := range described {
		if !ok {
			t.Errorf("%s: the package has no comment", strings.TrimPrefix(dir, root+"/"))
		}
	}
}

// onExported tells that a function is no method, or one of an exported type.
func onExported(recv *ast.FieldList) bool {
	if recv == nil {
		return true
	}
	e := recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// wellKnown are methods whose meaning is their interface's.
func wellKnown(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	switch d.Name.Name {
	case "Error", "Unwrap", "Is", "String":
		return true
	}
	return false
}

// undescribed reports exported types, constants and variables without a
// comment of their own or of their group.
func undescribed(t *testing.T, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
				t.Errorf("%s: %s has no comment", where(s), s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					t.Errorf("%s: %s has no comment", where(s), name.Name)
				}
			}
		}
	}
}

// house is everything that may lie in the top folder; design.md section 2.
var house = []string{
	"cmd", "state", "runner", "prompts", "contrib", "man", ".ci",
	"README.md", "CHANGELOG.md", "LICENSE", "Makefile", "go.mod", "go.sum", ".gitignore", ".gitattributes",
	".git", "bin", // not in the repository
}

func TestTopFolder(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range house {
		known[name] = true
	}
	for _, e := range entries {
		if !known[e.Name()] && !strings.HasSuffix(e.Name(), ".test") && !strings.HasSuffix(e.Name(), ".prof") {
			t.Errorf("%s does not belong into the top folder", e.Name())
		}
	}
}
