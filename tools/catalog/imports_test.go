package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// layers says which packages of ours a package may import. A pattern that ends
// in "/..." covers everything below. Imports run one way: later lines import
// earlier ones.
var layers = []struct {
	pkg string
	may []string
}{
	{"workspace/state", nil},
	{"workspace/state/postgres", nil},
	{"workspace/ignore", nil},
	{"workspace/redact", nil},
	{"workspace/repository", nil},
	{"workspace/fileuri", nil},
	{"workspace/fileclock", nil},
	{"workspace/internal/fsys", nil},
	{"workspace/protect", []string{"workspace/repository", "workspace/internal/fsys"}},
	{"workspace/internal/tree", []string{"workspace/internal/fsys"}},
	{"workspace/internal/history", []string{"workspace/state", "workspace/fileclock", "workspace/internal/fsys", "workspace/internal/tree"}},
	{"workspace/internal/journal", []string{"workspace/state", "workspace/internal/fsys", "workspace/internal/tree", "workspace/internal/history"}},
	{"workspace/internal/store", []string{"workspace/state", "workspace/internal/history", "workspace/internal/journal"}},
	{"workspace", []string{"workspace/state", "workspace/protect", "workspace/fileuri", "workspace/internal/..."}},
	{"workspace/deny", []string{"workspace", "workspace/internal/fsys"}},
	{"workspace/fileindex", []string{"workspace", "workspace/ignore", "workspace/internal/fsys"}},
	{"workspace/recorder", []string{"workspace", "workspace/fileindex", "workspace/repository", "workspace/internal/..."}},
	{"schema", nil},
	{"tools", []string{"schema", "workspace", "workspace/fileindex", "workspace/redact", "tools/internal/text/textfile"}}, // what says back a part of a request shows what deceives; a server passes on what it keeps secret
	{"tools/outbound", []string{"tools", "workspace/redact", "tools/internal/text/textfile", "tools/internal/diskcache"}}, // its errors are those of tools; in them, sizes are written as everywhere
	{"tools/durable", []string{"tools/internal/database", "workspace/state"}},                                             // it shares the database with others
	{"tools/internal/tooltest", []string{"schema", "tools", "workspace"}},
	{"tools/internal/programs/sandbox/internal/sandboxinit", nil},                                       // it runs before the rest of the program, and in its place
	{"tools/internal/programs/egress", []string{"tools/outbound"}},                                      // programs reach what tools reach
	{"tools/internal/programs/observer", []string{"workspace/recorder"}},                                // what it hears is recorded
	{"tools/internal/programs/jobs", []string{"workspace", "workspace/recorder", "tools/internal/..."}}, // a job has the changes of its program
	{"tools/internal/programs/sandbox", []string{"tools", "tools/outbound", "workspace", "workspace/recorder", "workspace/repository", "tools/internal/programs/egress", "tools/internal/programs/observer", "tools/internal/programs/sandbox/internal/sandboxinit"}}, // whose call a program is of
	{"tools/internal/programs/changed", []string{"tools", "workspace", "workspace/fileclock", "workspace/fileindex", "workspace/recorder", "tools/internal/text/textfile"}},                                                                                           // what changed goes into the audit log
	{"tools/internal/secrets", []string{"workspace/redact"}},                                                                             // names of secrets are in one place
	{"tools/internal/handles", []string{"tools"}},                                                                                        // some principals get longer ones
	{"tools/internal/inner", []string{"schema", "tools", "tools/internal/text/textfile"}},                                                // it calls tools by their names
	{"tools/internal/durations", []string{"tools"}},                                                                                      // its errors are those of tools
	{"tools/internal/picture", []string{"tools", "tools/internal/text/textfile"}},                                                        // an image is a block of a result
	{"tools/internal/progress", []string{"tools", "tools/internal/programs/screen"}},                                                     // it tells the caller of a tool
	{"tools/internal/unread", []string{"tools", "workspace", "workspace/fileindex", "tools/internal/paging"}},                            // it asks for paths as their caller does
	{"tools/internal/browser", []string{"tools", "tools/outbound", "tools/internal/programs/egress", "tools/internal/programs/sandbox"}}, // its errors are those of tools
	{"tools/internal/diskcache", []string{"tools"}},
	{"tools/internal/document/tesseract", []string{"tools", "tools/internal/document", "tools/internal/document/markup", "tools/internal/programs/sandbox", "tools/internal/diskcache"}}, // it runs a program for a call
	{"tools/internal/document/linked", []string{"tools", "workspace", "workspace/state", "tools/internal/..."}},                                                                          // compiled code is shared by all roots
	{"tools/internal/database", []string{"tools", "workspace", "workspace/state"}},                                                                                                       // its file is state, and its errors are those of tools
	{"tools/internal/database/databasetest", []string{"tools/internal/database", "tools/internal/tooltest", "workspace", "workspace/state/postgres"}},
	{"tools/internal/filelists", []string{"workspace", "workspace/fileindex"}},
	{"tools/internal/services", []string{"tools", "tools/outbound", "tools/internal/document/linked", "tools/internal/programs/jobs", "tools/internal/programs/sandbox", "tools/internal/filelists", "tools/internal/database"}}, // what categories share has settings, as they have
	{"tools/internal/losses", []string{"tools", "workspace", "workspace/fileindex", "tools/internal/text/textfile", "workspace/repository"}},                                                                                     // the user of a tool is asked about what is lost
	{"tools/internal/...", []string{"workspace", "tools/internal/..."}},
	{"tools/catalog", []string{"schema", "tools", "tools/*", "tools/internal/services", "tools/internal/programs/sandbox"}},
	{"tools/shell", []string{"schema", "tools", "tools/internal/...", "workspace", "workspace/redact", "@below"}},                          // it shows the command lines of others
	{"tools/agents", []string{"schema", "tools", "tools/durable", "tools/outbound", "tools/internal/...", "workspace", "@below"}},          // it asks the models of the configuration, and its runs outlast a process
	{"tools/schedule", []string{"schema", "tools", "tools/durable", "tools/internal/...", "workspace", "workspace/redact", "@below"}},      // its results are kept without secrets
	{"tools/memory", []string{"schema", "tools", "tools/internal/...", "workspace", "workspace/redact", "workspace/state", "@below"}},      // it refuses secrets, and its files are state
	{"tools/memory/internal/notes", []string{"tools", "tools/internal/database", "workspace/state"}},                                       // its files are state, and its errors are those of tools
	{"tools/web", []string{"schema", "tools", "tools/outbound", "tools/internal/...", "workspace", "@below"}},                              // it asks for what calls name
	{"tools/documents", []string{"schema", "tools", "tools/outbound", "tools/internal/...", "workspace", "workspace/fileindex", "@below"}}, // an endpoint that the user names makes vectors
	{"tools/documents/internal/vector", []string{"tools", "tools/outbound", "@sibling"}},                                                   // likewise
	{"tools/*", []string{"schema", "tools", "tools/internal/...", "workspace", "workspace/fileindex", "workspace/fileuri", "@below"}},
	{"tools/shell/internal/command", []string{"tools", "tools/internal/secrets"}},            // it speaks of commands in the terms of the contract
	{"tools/agents/internal/model", []string{"tools", "tools/outbound", "workspace/redact"}}, // it tells why a request failed
	{"tools/agents/internal/loop", []string{"@sibling"}},
	{"tools/agents/internal/executor", []string{"tools", "tools/outbound", "tools/internal/...", "@sibling"}},                                             // it starts programs for a call, with a guard of their own
	{"tools/agents/internal/runs", []string{"tools", "tools/internal/database", "workspace", "@sibling"}},                                                 // its errors are those of tools
	{"tools/bridge/internal/find", []string{"schema", "tools/internal/lexical"}},                                                                          // it counts slips as names of arguments do
	{"tools/web/internal/forecast", []string{"tools", "@sibling"}},                                                                                        // its errors are those of tools
	{"tools/files/internal/*", []string{"schema", "tools", "workspace", "workspace/fileindex", "workspace/repository", "tools/internal/...", "@sibling"}}, // they word results and errors for the tools
	{"tools/*/internal/...", []string{"workspace", "workspace/fileindex", "tools/internal/...", "@sibling"}},
	{"server/rules", []string{"schema", "tools", "workspace", "workspace/deny"}},
	{"server/counts", []string{"tools"}},
	{"server/run", []string{"schema", "tools", "workspace", "workspace/...", "server/counts", "server/rules"}},
	{"server/hooks", []string{"schema", "tools", "tools/outbound", "workspace/redact", "server/run", "server/rules", "workspace", "workspace/deny"}},
	{"server/identity", []string{"schema", "tools", "tools/outbound", "workspace"}},
	{"server/telemetry", []string{"tools", "tools/outbound", "server/counts", "server/run", "workspace/state"}},
	{"server/wire", []string{"tools"}},
	{"server/notify", []string{"tools"}},
	{"server/inbound", []string{"server/wire"}},
	{"server/outlet", nil},
	{"server/workers", nil},
	{"server/follow", []string{"tools", "workspace"}},
	{"server/tasks", []string{"tools", "server/run", "server/wire"}},
	{"server", []string{"schema", "tools", "server/run", "server/identity", "server/wire", "server/notify", "server/inbound", "server/outlet", "server/follow", "server/tasks", "server/workers", "workspace", "workspace/..."}},
	{"server/audit", []string{"workspace/state"}},
	{"server/records", []string{"server/audit", "workspace/redact", "server/run"}},
	{"server/config/settings", []string{"schema"}},
	{"server/config", []string{"server/config/settings", "schema", "server/hooks", "server/identity", "server/rules", "server/run", "tools", "tools/catalog", "workspace", "workspace/protect", "workspace/state"}},
	{"server/daemon", nil},
	{"server/conformance", []string{"tools", "server"}},
	{"server/cli/internal/clientfile", nil},
	{"server/cli/internal/prompt", []string{"tools"}}, // it asks what tools ask
	{"server/cli/internal/roff", nil},
	{"server/cli/internal/unitfile", nil},
	{"server/cli/internal/writable", nil},
	{"server/licences", nil},
	{"server/app", []string{"server", "server/audit", "server/config", "server/config/settings", "server/daemon", "server/hooks", "server/identity", "server/records", "server/rules", "server/run", "server/telemetry", "tools", "tools/catalog", "workspace", "workspace/redact", "workspace/state", "workspace/recorder", "server/workers"}},
	{"server/cli", []string{"server/app", "server/config", "server/config/settings", "server/daemon", "server/cli/internal/clientfile", "server/cli/internal/prompt", "server/licences", "schema", "server", "server/audit", "server/identity", "server/rules", "server/run", "server/telemetry", "tools", "tools/catalog", "workspace", "workspace/state", "server/counts", "server/cli/internal/unitfile", "server/cli/internal/writable", "server/cli/internal/roff"}},
	{"", []string{"server/cli", "server/run", "tools/catalog"}},
}

// only says which packages alone may import a foreign one, or one of ours that is not for all.
var only = []struct {
	imported string
	by       []string
	why      string
}{
	// The fixtures of the conformance suite show, among others, what the contract of tools leaves out.
	{"github.com/mark3labs/mcp-go", []string{"server", "server/wire", "server/conformance"}, "the protocol has one place"},
	{"github.com/invopop/jsonschema", []string{"schema"}, "schemas have one reflector"},
	{"github.com/santhosh-tekuri/jsonschema", nil, "arguments have one validator, that of package schema"},
	{"github.com/google/jsonschema-go", nil, "likewise; a test asks it what editors would"},
	{"mvdan.cc/sh", []string{"tools/shell/internal/command"}, "command lines are read in one place"},
	{"github.com/golang-jwt/jwt", []string{"server/identity"}, "tokens are proved in one place"},
	{"github.com/tailscale/hujson", []string{"server/cli/internal/clientfile"}, "clients' files are edited in one place"},
	{"github.com/pelletier/go-toml", []string{"server/cli/internal/clientfile"}, "clients' files are edited in one place"},
	{"modernc.org/quickjs", []string{"tools/code/internal/javascript"}, "scripts run in a process of their own"},
	{"modernc.org/sqlite", []string{"workspace/state"}, "state files are opened in one place"},
	{"toolcrib/tools/outbound", []string{"tools/agents/internal/executor", "tools/agents/internal/model", "tools/internal/browser", "tools/internal/programs/egress", "tools/internal/programs/sandbox", "tools/internal/services", "tools/web", "server/hooks", "server/identity", "server/telemetry", "tools/agents", "tools/documents", "tools/documents/internal/vector"}, "what goes out over HTTP goes one way"},
	{"github.com/dbos-inc/dbos-transact-golang", []string{"tools/durable"}, "what lasts runs on an engine of one place"},
	{"toolcrib/tools/durable", []string{"tools/agents", "tools/schedule"}, "what lasts is for those who need it"},
	{"github.com/jackc/pgx", []string{"tools/internal/database"}, "PostgreSQL is reached in one place"},
	{"toolcrib/workspace/state/postgres", []string{"tools/internal/database/databasetest"}, "it is for tests and figures"},
	{"toolcrib/tools/internal/database/databasetest", nil, "it is for tests"},
	{"github.com/andybalholm/brotli", []string{"tools/outbound"}, "bodies are decoded in one place, with bounds"},
	{"github.com/klauspost/compress", []string{"tools/outbound", "tools/internal/document/pdf/pdfium"}, "bodies of the web, and the embedded PDFium"},
	{"github.com/tetratelabs/wazero", []string{"tools/internal/document/pdf/pdfium"}, "foreign code runs in one place, with bounds"},
	{"text/template", nil, "it calls methods by their names, so that the linker keeps those of all types: a tenth of the program; see tools.Fill"},
	{"html/template", nil, "likewise"},
	{"unsafe", []string{"tools/search/internal/index", "tools/internal/programs/sandbox/internal/sandboxinit", "tools/internal/programs/sandbox", "tools/internal/programs/observer"}, "memory outside the heap is made in one place, and system calls with structs of the system in another"},
}

// openers are the functions of package os that open or change files; calls of
// them outside these packages would go round the workspace.
var (
	openers       = []string{"Open", "OpenFile", "Create", "ReadFile", "WriteFile", "ReadDir", "Remove", "RemoveAll", "Rename", "Mkdir", "MkdirAll", "Stat", "Lstat", "DirFS", "OpenRoot", "Readlink", "Symlink"}
	mayOpen       = []string{"workspace", "workspace/protect", "workspace/fileindex", "workspace/internal/fsys", "workspace/state", "workspace/state/postgres", "tools/internal/programs/observer", "tools/internal/programs/sandbox", "tools/internal/programs/sandbox/internal/sandboxinit", "tools/shell/internal/processes", "server/audit", "server/identity", "tools/catalog", "tools/internal/tooltest", "tools/internal/services", "tools/internal/document/pdf/convert", "server/config", "server/cli", "server/cli/internal/clientfile", "server/cli/internal/unitfile", "server/telemetry", "server/daemon", "tools/documents/internal/vector", "tools/agents/internal/inside"}
	mayAskForHost = []string{"workspace", "tools/files", "tools/files/internal/view", "tools/internal/programs/sandbox"} // for the URIs of files; to tell files apart; for what runs there
	mayAnchor     = []string{"workspace", "workspace/deny", "workspace/fileindex", "workspace/recorder"}
)

func TestImports(t *testing.T) {
	for pkg, files := range parseModule(t) {
		for _, f := range files {
			for _, spec := range f.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				checkImport(t, pkg, name)
			}
			checkCalls(t, pkg, f)
		}
	}
}

// A name of a tool in a string of a package outside of tools/ would have to change with
// the tool. Names that are words of their own too are looked for alone in their string.
func TestToolNames(t *testing.T) {
	list := all()
	for pkg, files := range parseModule(t) {
		if pkg == "tools" || strings.HasPrefix(pkg, "tools/") {
			continue
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				for _, tool := range list {
					if named(literal.Value, tool.Name) {
						t.Errorf("package %q names the tool %s in %.80s", pkg, tool.Name, literal.Value)
					}
				}
				return true
			})
		}
	}
}

// named reports whether the literal of a string names a tool.
func named(literal, tool string) bool {
	if text, err := strconv.Unquote(literal); err == nil && !strings.Contains(tool, "_") {
		return text == tool || strings.Contains(text, "call "+tool+" ")
	}
	words := strings.FieldsFunc(literal, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.Contains(words, tool)
}

func checkImport(t *testing.T, pkg, name string) {
	for _, rule := range only {
		if (name == rule.imported || strings.HasPrefix(name, rule.imported+"/")) && !slices.Contains(rule.by, pkg) {
			t.Errorf("package %q imports %s: %s; only %q may", pkg, name, rule.why, rule.by)
		}
	}
	ours, ok := strings.CutPrefix(name, "toolcrib/")
	if !ok {
		return
	}
	i := slices.IndexFunc(layers, func(l struct {
		pkg string
		may []string
	}) bool {
		return matches(l.pkg, pkg)
	})
	if i < 0 {
		t.Errorf("package %q has no line in the layers", pkg)
		return
	}
	if !slices.ContainsFunc(layers[i].may, func(p string) bool {
		switch p {
		case "@below": // its own parts
			return strings.HasPrefix(ours, pkg+"/internal/")
		case "@sibling": // parts of the same category
			return path.Dir(ours) == path.Dir(pkg)
		}
		return matches(p, ours)
	}) {
		t.Errorf("package %q imports %q; it may import %q", pkg, ours, layers[i].may)
	}
}

// matches reports whether a pattern names a package. "base/..." names what lies
// below every package that base matches.
func matches(pattern, pkg string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	if !below {
		ok, _ := path.Match(pattern, pkg)
		return ok
	}
	for up := path.Dir(pkg); up != "."; up = path.Dir(up) {
		if ok, _ := path.Match(base, up); ok {
			return true
		}
	}
	return false
}

func checkCalls(t *testing.T, pkg string, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(openers, sel.Sel.Name) && !slices.Contains(mayOpen, pkg) {
			t.Errorf("package %q calls os.%s: files are opened by workspace", pkg, sel.Sel.Name)
		}
		if sel.Sel.Name == "Host" && len(call.Args) == 0 && !slices.Contains(mayAskForHost, pkg) {
			t.Errorf("package %q calls Host(): the host path leaves workspace only for %q", pkg, mayAskForHost)
		}
		if sel.Sel.Name == "Anchor" && len(call.Args) == 0 && !slices.Contains(mayAnchor, pkg) {
			t.Errorf("package %q calls Anchor(): only %q make paths of what the file system gave", pkg, mayAnchor)
		}
		return true
	})
}

// parseModule parses the non-test files of every package, by its directory
// below the module ("" is main).
func parseModule(t *testing.T) map[string][]*ast.File {
	t.Helper()
	const root = "../.."
	packages := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if pkg == "." {
			pkg = ""
		}
		packages[pkg] = append(packages[pkg], f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}
