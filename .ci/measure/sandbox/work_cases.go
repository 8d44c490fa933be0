package sandbox

import "strings"

// workCases are the pieces of work. PORT in a command stands for a free port of the machine.
func workCases(full bool) []workCase {
	return []workCase{
		goWork(full), npmWork(), makeWork(), pytestWork(), gitWork(), cargoWork(), serverWork(), databaseWork(),
		networkWork(),
	}
}

func again(n int, s ...workStep) []workStep {
	var all []workStep
	for range n {
		for _, one := range s {
			one.again = true
			all = append(all, one)
		}
	}
	return all
}

// goWork compiles little at first, and much of the standard library if full.
func goWork(full bool) workCase {
	files := map[string]string{
		"go.mod": "module example.com/work\n\ngo 1.26.5\n\nrequire github.com/google/go-cmp v0.7.0\n",
		"go.sum": "github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBybVuN8=\n" +
			"github.com/google/go-cmp v0.7.0/go.mod h1:pXiqmnSA92OHEEa9HXL2W4E7lf9JzCmGVUdgjX3N/iU=\n",
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/google/go-cmp/cmp\"\n)\n\n" +
			"func main() { fmt.Println(Same(1, 1)) }\n\n// Same compares.\nfunc Same(a, b any) bool { return cmp.Equal(a, b) }\n",
		"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestSame(t *testing.T) {\n" +
			"\tif !Same([]int{1}, []int{1}) || t.TempDir() == \"\" {\n\t\tt.Fatal()\n\t}\n}\n",
	}
	want := "true"
	if full {
		want = `OK\s+true`
		files["http.go"] = "package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc init() { fmt.Println(http.StatusText(200)) }\n"
		files["http_test.go"] = "package main\n\nimport (\n\t\"net/http/httptest\"\n\t\"testing\"\n)\n\n" +
			"func TestServer(t *testing.T) { httptest.NewServer(nil).Close() }\n"
	}
	return workCase{
		name:  "go build and test",
		files: files,
		steps: append([]workStep{
			{command: "go build -o work . && ./work", want: want},
			{command: "go vet ./... && go test ./...", want: `ok\s+example.com/work`},
		}, again(3, workStep{command: "date +'// %N' >> main.go; go build -o work . && ./work", want: want},
			workStep{command: "go test ./...", want: `ok\s+example.com/work`})...),
	}
}

func npmWork() workCase {
	return workCase{
		name: "npm ci and test",
		files: map[string]string{
			"package.json": `{"name":"work","version":"1.0.0","private":true,"scripts":{"test":"node --test"},"dependencies":{"ms":"2.1.3","semver":"7.7.2"}}`,
			"a.test.js":    "const t=require('node:test'),a=require('node:assert'),ms=require('ms'),s=require('semver');\nt('ms',()=>{a.equal(ms('2 days'),172800000);a.ok(s.gt('1.2.0','1.1.9'))});\n",
		},
		plant: "npm install --package-lock-only --no-audit --no-fund",
		steps: append([]workStep{
			{command: "timeout 50 npm ci --no-audit --no-fund", fails: true, only: true, want: "network.*registry.npmjs.org"},
			{command: "npm ci --no-audit --no-fund", network: true, want: "added 2 packages"},
			{command: "npm test", want: "pass 1"},
		}, again(3, workStep{command: "npm ci --prefer-offline --no-audit --no-fund && npm test", network: true, want: "added 2 packages.*pass 1"})...),
	}
}

func makeWork() workCase {
	return workCase{
		name:  "make of C",
		needs: "command -v make && command -v cc",
		files: map[string]string{
			"Makefile": "CFLAGS=-O2 -Wall\nprog: main.o sum.o\n\t$(CC) -o $@ $^\nmain.o sum.o: sum.h\nclean:\n\trm -f prog *.o\n",
			"main.c":   "#include <stdio.h>\n#include \"sum.h\"\nint main(void) { printf(\"sum %d\\n\", sum(40, 2)); return 0; }\n",
			"sum.c":    "#include \"sum.h\"\nint sum(int a, int b) { return a + b; }\n", "sum.h": "int sum(int a, int b);\n",
		},
		steps: append([]workStep{
			{command: "make -j2 && ./prog", want: "sum 42"},
			{command: "make", want: "up to date"},
		}, again(3, workStep{command: "make clean && make -j2 && ./prog", want: "sum 42"})...),
	}
}

func pytestWork() workCase {
	return workCase{
		name:  "pytest",
		needs: "/usr/bin/python3 -c 'import pytest'",
		files: map[string]string{
			"work.py": "def twice(n):\n    return 2 * n\n",
			"test_work.py": "import multiprocessing, subprocess, sys, tempfile\nfrom work import twice\n\ndef test_twice(tmp_path):\n    (tmp_path / 'a').write_text('x')\n    assert twice(21) == 42\n\n" +
				"def test_processes():\n    with multiprocessing.Pool(2) as pool:\n        assert pool.map(twice, [1, 2]) == [2, 4]\n    assert subprocess.check_output([sys.executable, '-c', 'print(1)']) == b'1\\n'\n",
		},
		steps: append([]workStep{{command: "/usr/bin/python3 -m pytest -q", want: "2 passed"}},
			again(3, workStep{command: "/usr/bin/python3 -m pytest -q", want: "2 passed"})...),
	}
}

func gitWork() workCase {
	const who = "git -c user.name=a -c user.email=a@b.test "
	return workCase{
		name:  "git commit and rebase",
		files: map[string]string{"a.txt": "one\n"},
		plant: "git init -q -b main && git add . && " + who + "commit -qm first && git checkout -qb topic && echo two >b.txt && git add . && " +
			who + "commit -qm second && git checkout -q main && echo more >>a.txt && " + who + "commit -qam third && git checkout -q topic",
		steps: []workStep{
			{command: "echo three >c.txt && git add -A && " + who + "commit -m fourth", want: "1 file changed"},
			{command: who + "rebase main", want: "rebased and updated"},
			{command: "GIT_SEQUENCE_EDITOR=\"sed -i '2s/pick/squash/'\" GIT_EDITOR=true " + who + "rebase -i main && git log --oneline | wc -l", want: `\b3\s*$`},
			{command: "git status --porcelain && git stash list && git gc -q && git fsck && git worktree add -q ../wt && git -C ../wt log -1 --format=%s", want: "second"},
			{command: who + "tag -a v1 -m v1 && git describe && git clone -q . ../clone && cat ../clone/c.txt", want: "v1.*three"},
		},
	}
}

func cargoWork() workCase {
	const debian = "PATH=/usr/bin:$PATH " // its programs, where rustup has others that want a configuration
	return workCase{
		name:  "cargo build",
		needs: debian + "cargo --version",
		files: map[string]string{
			"Cargo.toml":       "[package]\nname = \"work\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ndep = { path = \"dep\" }\n",
			"src/main.rs":      "fn main() { println!(\"sum {}\", dep::sum(40, 2)); }\n\n#[test]\nfn sums() { assert_eq!(dep::sum(1, 2), 3); }\n",
			"dep/Cargo.toml":   "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"dep/src/lib.rs":   "pub fn sum(a: i32, b: i32) -> i32 { a + b }\n",
			"dep/src/unused.c": "",
		},
		steps: append([]workStep{
			{command: debian + "cargo build && ./target/debug/work", want: "sum 42"},
			{command: debian + "cargo test", want: "1 passed"},
		}, again(3, workStep{command: "date +'// %N' >> src/main.rs; " + debian + "cargo build && ./target/debug/work", want: "sum 42"})...),
	}
}

func serverWork() workCase {
	return workCase{
		name:  "a server, fetched",
		files: map[string]string{"page.txt": "the page\n"},
		steps: []workStep{
			{command: "exec python3 -m http.server --bind 127.0.0.1 PORT", job: true},
			{command: untilFetched("http://localhost:PORT/page.txt"), want: "the page"},
			{command: "python3 -c 'import urllib.request; print(urllib.request.urlopen(\"http://127.0.0.1:PORT/page.txt\").read())'", want: "the page"},
			{command: "curl -s http://localhost:PORT/page.txt", network: true, want: "the page"},
			{command: "curl -s http://[::1]:PORT/ || echo none", want: "none"},
		},
	}
}

// untilFetched asks until a server answers.
func untilFetched(at string) string {
	return strings.ReplaceAll("for i in $(seq 100); do curl -sf AT && exit; sleep 0.1; done; exit 1", "AT", at)
}

func databaseWork() workCase {
	return workCase{
		name:  "a database",
		needs: "command -v redis-server",
		steps: []workStep{
			{command: "exec redis-server --port PORT --bind 127.0.0.1 --save '' --dir .", job: true},
			{command: "for i in $(seq 100); do redis-cli -p PORT set key 'a value' && exit; sleep 0.1; done; exit 1", want: "OK"},
			{command: "redis-cli -p PORT get key && redis-cli -p PORT save && ls dump.rdb", want: "a value.*dump.rdb"},
			{command: "redis-cli -p PORT shutdown nosave", stop: true},
			{command: "redis-cli -p PORT ping", fails: true, want: "refused"},
		},
	}
}

func networkWork() workCase {
	const mod = "GOMODCACHE=$PWD/mod GOFLAGS=-modcacherw "
	return workCase{
		name:  "the network by host",
		files: map[string]string{"go.mod": "module example.com/net\n\ngo 1.26.5\n"},
		steps: []workStep{
			{command: mod + "go mod download golang.org/x/exp@v0.0.0-20250408133849-7e4ce0ab07d0", fails: true, only: true, want: "network is off"},
			{command: mod + "go mod download golang.org/x/exp@v0.0.0-20250408133849-7e4ce0ab07d0 && ls mod/golang.org/x", network: true, want: "exp@"},
			{command: "curl -sS -o /dev/null -w '%{http_code}' https://registry.npmjs.org/ms", network: true, want: "200"},
			{command: "curl -sSf -m 5 http://169.254.169.254/", network: true, fails: true, only: true, want: "169.254.169.254:80: the address is private"},
			{command: "curl -sS -m 5 --noproxy '*' https://registry.npmjs.org/ms", network: true, fails: true, only: true, want: "resolve"},
		},
	}
}
