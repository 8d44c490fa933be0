package search

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
)

// fileTypes are the names that grep's type takes, sorted, with the patterns of
// the file names of each.
var fileTypes = [...]struct {
	name     string
	patterns []string
}{
	{"asm", []string{"*.asm", "*.s", "*.S"}},
	{"bazel", []string{"*.bazel", "*.bzl", "BUILD", "WORKSPACE", "MODULE.bazel"}},
	{"c", []string{"*.c", "*.h"}},
	{"clojure", []string{"*.clj", "*.cljc", "*.cljs", "*.edn"}},
	{"cmake", []string{"*.cmake", "CMakeLists.txt"}},
	{"cpp", []string{"*.cpp", "*.cc", "*.cxx", "*.c++", "*.hpp", "*.hh", "*.hxx", "*.h++", "*.h", "*.inl", "*.ipp"}},
	{"cs", []string{"*.cs", "*.csx"}},
	{"css", []string{"*.css", "*.scss", "*.sass", "*.less"}},
	{"csv", []string{"*.csv", "*.tsv"}},
	{"dart", []string{"*.dart"}},
	{"docker", []string{"Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile", "docker-compose*.yml", "docker-compose*.yaml", "compose.yml", "compose.yaml"}},
	{"elixir", []string{"*.ex", "*.exs", "*.eex", "*.heex"}},
	{"elm", []string{"*.elm"}},
	{"erlang", []string{"*.erl", "*.hrl"}},
	{"fsharp", []string{"*.fs", "*.fsi", "*.fsx"}},
	{"go", []string{"*.go"}},
	{"gomod", []string{"go.mod", "go.sum", "go.work", "go.work.sum"}},
	{"gradle", []string{"*.gradle", "*.gradle.kts"}},
	{"graphql", []string{"*.graphql", "*.gql"}},
	{"haskell", []string{"*.hs", "*.lhs", "*.cabal"}},
	{"html", []string{"*.html", "*.htm", "*.xhtml"}},
	{"java", []string{"*.java"}},
	{"js", []string{"*.js", "*.jsx", "*.mjs", "*.cjs"}},
	{"json", []string{"*.json", "*.jsonc", "*.json5", "*.jsonl", "*.ndjson", "*.ipynb"}},
	{"julia", []string{"*.jl"}},
	{"kotlin", []string{"*.kt", "*.kts"}},
	{"lisp", []string{"*.lisp", "*.lsp", "*.cl", "*.el", "*.scm", "*.rkt"}},
	{"log", []string{"*.log"}},
	{"lua", []string{"*.lua"}},
	{"make", []string{"Makefile", "makefile", "GNUmakefile", "*.mk", "*.mak"}},
	{"md", []string{"*.md", "*.mdx", "*.markdown"}},
	{"nim", []string{"*.nim", "*.nims"}},
	{"nix", []string{"*.nix"}},
	{"objc", []string{"*.m", "*.mm", "*.h"}},
	{"ocaml", []string{"*.ml", "*.mli"}},
	{"perl", []string{"*.pl", "*.pm", "*.t", "*.pod"}},
	{"php", []string{"*.php", "*.phtml"}},
	{"proto", []string{"*.proto"}},
	{"ps", []string{"*.ps1", "*.psm1", "*.psd1"}},
	{"py", []string{"*.py", "*.pyi", "*.pyw", "*.pyx"}},
	{"r", []string{"*.r", "*.R", "*.Rmd"}},
	{"rst", []string{"*.rst"}},
	{"ruby", []string{"*.rb", "*.rake", "*.gemspec", "*.erb", "Gemfile", "Rakefile"}},
	{"rust", []string{"*.rs"}},
	{"scala", []string{"*.scala", "*.sbt", "*.sc"}},
	{"sh", []string{"*.sh", "*.bash", "*.zsh", "*.fish", "*.ksh", ".bashrc", ".zshrc", ".profile"}},
	{"sql", []string{"*.sql"}},
	{"svelte", []string{"*.svelte"}},
	{"swift", []string{"*.swift"}},
	{"terraform", []string{"*.tf", "*.tfvars", "*.hcl"}},
	{"tex", []string{"*.tex", "*.bib", "*.sty", "*.cls"}},
	{"toml", []string{"*.toml", "Cargo.lock"}},
	{"ts", []string{"*.ts", "*.tsx", "*.mts", "*.cts"}},
	{"txt", []string{"*.txt"}},
	{"vue", []string{"*.vue"}},
	{"xml", []string{"*.xml", "*.xsd", "*.xsl", "*.xslt", "*.svg", "*.plist"}},
	{"yaml", []string{"*.yaml", "*.yml"}},
	{"zig", []string{"*.zig", "*.zon"}},
}

func typeNames() []string {
	names := make([]string, len(fileTypes))
	for i, t := range fileTypes {
		names[i] = t.name
	}
	return names
}

// typeList lists the types with their patterns, for the manual.
func typeList() string {
	var b strings.Builder
	for _, t := range fileTypes {
		fmt.Fprintf(&b, "- `%s`: %s\n", t.name, strings.Join(t.patterns, " "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// otherNames are further names of types, which the manual does not list.
var otherNames = [...]struct{ other, name string }{
	{"bash", "sh"}, {"c++", "cpp"}, {"csharp", "cs"}, {"c#", "cs"}, {"cxx", "cpp"}, {"dockerfile", "docker"},
	{"golang", "go"}, {"hcl", "terraform"}, {"javascript", "js"}, {"jsx", "js"}, {"kt", "kotlin"},
	{"makefile", "make"}, {"markdown", "md"}, {"objective-c", "objc"}, {"powershell", "ps"}, {"protobuf", "proto"},
	{"python", "py"}, {"rb", "ruby"}, {"rs", "rust"}, {"shell", "sh"}, {"text", "txt"}, {"tf", "terraform"},
	{"tsx", "ts"}, {"typescript", "ts"}, {"yml", "yaml"},
}

// typeIndex returns the index of a type in fileTypes by one of its names, -1 for none.
func typeIndex(name string) int {
	for _, o := range otherNames {
		if o.other == name {
			name = o.name
		}
	}
	return slices.Index(typeNames(), name)
}

// typePatterns returns the patterns of the named types together. A name may be several
// with commas between them: no type has one in its name.
func typePatterns(given []string) ([]string, error) {
	var names, patterns []string
	for _, several := range given {
		for name := range strings.SplitSeq(several, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	for _, name := range names {
		i := typeIndex(name)
		if i < 0 {
			err := tools.Errorf(tools.InvalidArgument, "type: no type is called %q", name)
			if near := schema.Nearest(name, typeNames()); near != "" {
				return nil, err.WithHint("did you mean %q; or use glob, such as %q", near, "*."+name)
			}
			return nil, err.WithHint("use glob, such as %q, or one of: %s", "*."+name, strings.Join(typeNames(), " "))
		}
		patterns = append(patterns, fileTypes[i].patterns...)
	}
	return patterns, nil
}
