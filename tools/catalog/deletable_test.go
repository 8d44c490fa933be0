package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools/catalog"
)

// TestDeletable proves that a tool goes with its files and the one line that lists it:
// no other file of its category uses what these define, nor do the tests of others. The
// files of the tool NAME are NAME.go and all NAME_*.go, its tests among them.
func TestDeletable(t *testing.T) {
	parsed := map[string]map[string]*parsedFile{}
	for _, tool := range catalog.Tools(catalog.All(new(catalog.Services))) {
		t.Run(tool.Name, func(t *testing.T) {
			if parsed[tool.Category] == nil {
				parsed[tool.Category] = parse(t, tool.Category)
			}
			own, others := split(parsed[tool.Category], tool.Name)
			defined := definedIn(own)
			constructor := camelCase(tool.Name) + "Tool"
			if defined[constructor] == 0 {
				t.Fatalf("no file of %s has the function %s", tool.Name, constructor)
			}
			for _, name := range slices.Sorted(maps.Keys(others)) {
				for used, where := range usedBy(others[name]) {
					if used == constructor && (name == tool.Category+".go" || name == "category.go") {
						continue // the latter in a category with a tool of its own name
					}
					if defined[used] != 0 {
						t.Errorf("%s uses %s at %s, which goes with %s", name, used, where, tool.Name)
					}
				}
			}
		})
	}
}

// parse parses the files of a category, by their names.
func parse(t *testing.T, category string) map[string]*parsedFile {
	t.Helper()
	paths, err := filepath.Glob("../" + category + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*parsedFile{}
	for _, at := range paths {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, at, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(at)] = &parsedFile{file, fset}
	}
	return files
}

// split returns the files of a tool, and the others by their names.
func split(files map[string]*parsedFile, tool string) (own []*ast.File, others map[string]*parsedFile) {
	others = map[string]*parsedFile{}
	for name, file := range files {
		if name == tool+".go" || strings.HasPrefix(name, tool+"_") {
			own = append(own, file.File)
		} else {
			others[name] = file
		}
	}
	return own, others
}

type parsedFile struct {
	*ast.File
	fset *token.FileSet
}

// definedIn returns the names that files define for their package, methods as ".name"
// where the files do not define the type.
func definedIn(files []*ast.File) map[string]int {
	defined := map[string]int{}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					defined[d.Name.Name]++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						defined[s.Name.Name]++
					case *ast.ValueSpec:
						for _, name := range s.Names {
							defined[name.Name]++
						}
					}
				}
			}
		}
	}
	delete(defined, "_")
	for _, file := range files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv != nil && defined[receiver(d)] == 0 {
				defined["."+d.Name.Name]++
			}
		}
	}
	return defined
}

// receiver names the type of a method.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if index, ok := e.(*ast.IndexExpr); ok {
		e = index.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// usedBy returns the names of its package that a file uses and does not define, and
// what it selects as ".name", with the place of each.
func usedBy(file *parsedFile) map[string]token.Position {
	used := map[string]token.Position{}
	imported := map[string]bool{}
	for _, spec := range file.Imports {
		imported[strings.Trim(path.Base(spec.Path.Value), `"`)] = true
	}
	for _, id := range file.Unresolved {
		if imported[id.Name] {
			continue
		}
		used[id.Name] = file.fset.Position(id.Pos())
	}
	ast.Inspect(file.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			name := "." + s.Sel.Name
			if x, ok := s.X.(*ast.Ident); ok && x.Name+"_test" == file.Name.Name {
				name = s.Sel.Name // of the package that the test is of
			}
			used[name] = file.fset.Position(s.Sel.Pos())
		}
		return true
	})
	return used
}

// camelCase turns the name of a tool into a word of Go.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
