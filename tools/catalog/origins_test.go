package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
)

// originCall is a call of a tool of another system, and the call of ours that it must come to.
type originCall struct {
	name string
	args string // as the documentation of the system shows them
	tool string
	want string // canonical; what stands in defaults of the tool may be left out
}

// origins are calls as callers of the systems send them that the catalog began with. A
// category that brings a tool of theirs adds its calls.
var origins = map[string][]originCall{
	"NanoClaw": {
		{"file_read", `{"path": "a.txt", "encoding": "utf-8"}`, "read_file", `{"path":"a.txt","encoding":"utf-8"}`},
		{"file_write", `{"path": "a.txt", "content": "x", "encoding": "utf-8"}`, "write_file", `{"path":"a.txt","content":"x","encoding":"utf-8"}`},
		{"file_write", `{"path": "a.txt", "content": "x", "append": true}`, "write_file", `{"path":"a.txt","content":"x","mode":"append"}`},
		{"file_write", `{"path": "a.txt", "content": "x", "mode": "a"}`, "write_file", `{"path":"a.txt","content":"x","mode":"append"}`},
		{"file_delete", `{"path": "a.txt"}`, "delete_path", `{"path":"a.txt"}`},
		{"file_list", `{"path": "src"}`, "list_directory", `{"path":"src"}`},
		{"file_list", `{"path": "src", "recursive": true, "pattern": "*.go"}`, "list_directory", `{"path":"src","depth":10,"pattern":"*.go"}`},
		{"file_list", `{}`, "list_directory", `{}`},
		{"file_exists", `{"path": "a.txt"}`, "file_info", `{"paths":["a.txt"]}`},
		{"file_mkdir", `{"path": "a/b", "parents": true}`, "make_directory", `{"path":"a/b"}`},
		{"parallel_execute", `{"calls": [{"tool": "calculator", "args": {"expression": "1+1"}}]}`, "parallel_calls", `{"calls":[{"tool":"calculator","arguments":{"expression":"1+1"}}]}`},
		{"web_search", `{"query": "a b", "max_results": 5}`, "web_search", `{"query":"a b","limit":5}`},
		{"fetch_page", `{"url": "https://a.example/", "extract_type": "links"}`, "web_fetch", `{"url":"https://a.example/","format":"links"}`},
		{"fetch_page", `{"url": "https://a.example/", "extract_type": "text", "max_length": 5000}`, "web_fetch", `{"url":"https://a.example/","format":"text","limit":5000}`},
		{"fetch_page", `{"url": ["https://a.example/", "https://b.example/"], "extract_type": "text"}`, "web_crawl", `{"urls":["https://a.example/","https://b.example/"],"format":"text"}`},
		{"crawl_batch", `{"urls": ["https://a.example/", "https://b.example/"], "extract_type": "structured"}`, "web_crawl", `{"urls":["https://a.example/","https://b.example/"],"format":"structured"}`},
		{"calculator", `{"expression": "1+1"}`, "calculator", `{"expression":"1+1"}`},
		{"calculator", `"expression=1+1"`, "calculator", `{"expression":"1+1"}`},
		{"calculator", `"expression=7%2B1"`, "calculator", `{"expression":"7+1"}`},
		{"text_process", `{"text": "b a", "operation": "upper"}`, "text_process", `{"text":"b a","operation":"upper"}`},
		{"json_process", `{"json_string": "{\"a\":1}", "operation": "format"}`, "json_process", `{"text":"{\"a\":1}","operation":"format"}`},
		{"json_process", `{"json_string": "[1]", "operation": "validate"}`, "json_process", `{"text":"[1]","operation":"validate"}`},
		{"get_weather", `{"city": "Bonn"}`, "weather", `{"location":"Bonn"}`},
		{"agent_task", `{"task": "count the files", "tools": ["glob"]}`, "run_agent", `{"task":"count the files","tools":["glob"]}`},
		{"execute_python", `{"code": "print(1)", "timeout": 30}`, "run_python", `{"code":"print(1)","timeout":"30s"}`},
	},
	"CountBot": {
		{"read_file", `{"path": "a.py", "start_line": 3, "end_line": 9, "show_line_numbers": false}`, "read_file", `{"path":"a.py","offset":3,"limit":7,"line_numbers":false}`},
		{"read_file", `{"paths": ["a.py", "b.py"], "show_line_numbers": true}`, "read_files", `{"paths":["a.py","b.py"],"line_numbers":true}`},
		{"read_file", `{"paths": ["a.py"]}`, "read_file", `{"path":"a.py"}`},
		{"write_file", `{"path": "a.py", "content": "x", "mode": "append"}`, "write_file", `{"path":"a.py","content":"x","mode":"append"}`},
		{"edit_file", `{"path": "a.py", "old_text": "x", "new_text": "y"}`, "edit_file", `{"path":"a.py","edits":[{"old_text":"x","new_text":"y"}]}`},
		{"edit_file", `{"path": "a.py", "start_line": 3, "end_line": 5, "new_text": "y"}`, "edit_file", `{"path":"a.py","edits":[{"start_line":3,"end_line":5,"new_text":"y"}]}`},
		{"edit_file", `{"path": "a.py", "start_line": 3, "new_text": "y", "insert": true}`, "edit_file", `{"path":"a.py","edits":[{"start_line":3,"end_line":2,"new_text":"y\n"}]}`},
		{"edit_file", `{"path": "a.py", "start_line": 3, "end_line": 3, "new_text": "", "insert": false}`, "edit_file", `{"path":"a.py","edits":[{"start_line":3,"end_line":3,"new_text":""}]}`},
		{"list_dir", `{"path": "src"}`, "list_directory", `{"path":"src","hidden":true,"include_ignored":true}`},
		{"list_dir", `{}`, "list_directory", `{"hidden":true,"include_ignored":true}`},
		{"web_fetch", `{"url": "https://a.example/", "extractMode": "text", "maxChars": 5000}`, "web_fetch", `{"url":"https://a.example/","format":"text","limit":5000}`},
		{"spawn", `{"task": "count the files"}`, "run_agent", `{"task":"count the files"}`},
		{"exec", `{"command": "make", "working_dir": "src", "timeout": 60}`, "bash", `{"command":"make","cwd":"src","timeout":"60s"}`},
		{"exec", `{"command": "make", "timeout": 1800, "monitor": {"enabled": true}}`, "bash", `{"command":"make","timeout":"1800s"}`},
		{"file_search", `{"path": "src", "pattern": "*test*", "type": "file", "max_depth": -1, "limit": 20}`, "glob", `{"path":"src","pattern":["*[tT][eE][sS][tT]*"],"kind":"file","hidden":true,"limit":20}`},
		{"file_search", `{"path": "src", "type": "dir"}`, "glob", `{"path":"src","pattern":["*"],"kind":"directory","hidden":true}`},
		{"memory_write", `{"content": "x", "title": "t", "ttl": "1h"}`, "memory_write", `{"content":"x","topic":"t","expires":"1h"}`},
		{"memory_search", `{"keywords": "a b", "max_results": 5}`, "memory_search", `{"query":"a b","limit":5}`},
		{"memory_search", `{"keywords": ["a", "b"]}`, "memory_search", `{"query":"a b"}`},
		{"memory_read", `{}`, "memory_read", `{}`},
		{"file_search", `{"path": "src"}`, "glob", `{"path":"src","pattern":["*"],"kind":"any","hidden":true}`},
	},
	"Qwen-Agent": {
		{"code_interpreter", `{"code": "print(1)"}`, "code_interpreter", `{"code":"print(1)"}`},
		{"code_interpreter", `"{\"code\": \"print(1)\"}"`, "code_interpreter", `{"code":"print(1)"}`},
		{"code_interpreter", `"{code: 'print(1)'}"`, "code_interpreter", `{"code":"print(1)"}`},
		{"code_interpreter", `"code=print(1)"`, "code_interpreter", `{"code":"print(1)"}`},
		{"code_interpreter", `"x = 1\nprint(x)"`, "code_interpreter", `{"code":"x = 1\nprint(x)"}`},
		{"code_interpreter", "\"```py\\nx = 1\\nprint(x)\\n```\"", "code_interpreter", `{"code":"x = 1\nprint(x)\n"}`},
		{"python_executor", `{"code": "print(1)"}`, "run_python", `{"code":"print(1)"}`},
		{"doc_parser", `{"url": "a.pdf"}`, "parse_document", `{"path":"a.pdf"}`},
		{"simple_doc_parser", `{"url": "https://a.example/a.pdf"}`, "parse_document", `{"url":"https://a.example/a.pdf"}`},
		{"web_search", `{"query": "a b"}`, "web_search", `{"query":"a b"}`},
		{"web_extractor", `{"url": "https://a.example/"}`, "web_fetch", `{"url":"https://a.example/"}`},
		{"web_extractor", `{"url": ["https://a.example/"]}`, "web_fetch", `{"url":"https://a.example/"}`},
		{"web_extractor", `{"url": ["https://a.example/", "https://b.example/"]}`, "web_crawl", `{"urls":["https://a.example/","https://b.example/"]}`},
		{"web_extractor", `"{\"urls\": [\"https://a.example/\", \"https://b.example/\"], \"prompt\": \"x\"}"`, "web_crawl", `{"urls":["https://a.example/","https://b.example/"],"query":"x"}`},
		{"image_search", `{"query": "a kite"}`, "image_search", `{"query":"a kite"}`},
		{"image_search", `{"img_url": "https://a.example/a.png"}`, "image_search", `{"image":"https://a.example/a.png"}`},
		{"amap_weather", `{"location": "北京市"}`, "weather", `{"location":"北京市"}`},
		{"retrieval", `{"query": "a, b", "files": ["a.md"]}`, "search_documents", `{"query":"a, b","paths":["a.md"]}`},
		{"hybrid_search", `{"query": "a", "files": ["a.md"]}`, "search_documents", `{"query":"a","paths":["a.md"]}`},
		{"keyword_search", `{"query": "a", "files": ["a.md"]}`, "search_documents", `{"query":"a","paths":["a.md"],"mode":"keyword"}`},
		{"vector_search", `{"query": "a", "files": ["a.md"]}`, "search_documents", `{"query":"a","paths":["a.md"],"mode":"vector"}`},
		{"front_page_search", `{"query": "a", "files": ["a.md"]}`, "search_documents", `{"query":"a","paths":["a.md"],"mode":"front_page"}`},
		{"storage", `{"operate": "put", "key": "/a/b", "value": "x"}`, "storage", `{"operation":"put","key":"/a/b","value":"x"}`},
		{"storage", `{"operate": "get", "key": "/a/b"}`, "storage", `{"operation":"get","key":"/a/b"}`},
		{"storage", `{"operate": "delete", "key": "/a/b"}`, "storage", `{"operation":"delete","key":"/a/b"}`},
		{"storage", `{"operate": "scan", "key": "/a"}`, "storage", `{"operation":"scan","key":"/a"}`},
		{"python_executor", `"print(1 == 2)"`, "run_python", `{"code":"print(1 == 2)"}`},
	},
	"clients": {
		{"Bash", `{"command": "ls", "timeout": 120000, "description": "List", "run_in_background": true}`, "bash", `{"command":"ls","timeout":"120000ms","background":true}`},
		{"Read", `{"file_path": "/r/a.go", "offset": 3, "limit": 7}`, "read_file", `{"path":"/r/a.go","offset":3,"limit":7}`},
		{"read_text_file", `{"path": "a.go"}`, "read_file", `{"path":"a.go"}`},
		{"read_text_file", `{"path": "a.go", "head": 5}`, "read_file", `{"path":"a.go","offset":1,"limit":5}`},
		{"read_text_file", `{"path": "a.go", "tail": 5}`, "read_file", `{"path":"a.go","offset":-5}`},
		{"AskUserQuestion", `{"questions": [{"question": "Which?", "header": "Db", "options": [{"label": "A", "description": ""}, {"label": "B", "description": "b"}], "multiSelect": false}]}`, "ask_user", `{"questions":[{"question":"Which?","header":"Db","options":[{"label":"A","description":""},{"label":"B","description":"b"}],"free":true}]}`},
		{"parallel_calls", `{"tool_uses": [{"recipient_name": "functions.glob", "parameters": {"pattern": "*"}}]}`, "parallel_calls", `{"calls":[{"tool":"functions.glob","arguments":{"pattern":"*"}}]}`},
		{"Write", `{"file_path": "/r/a.go", "content": "x"}`, "write_file", `{"path":"/r/a.go","content":"x"}`},
		{"Edit", `{"file_path": "/r/a.go", "old_string": "x", "new_string": "y", "replace_all": false}`, "edit_file", `{"path":"/r/a.go","edits":[{"old_text":"x","new_text":"y"}]}`},
		{"Grep", `{"pattern": "x", "path": "src", "output_mode": "files_with_matches", "glob": "*.go", "-i": true, "head_limit": 5}`, "grep", `{"pattern":"x","path":"src","mode":"files","glob":["*.go"],"case":"insensitive","limit":5}`},
		{"Glob", `{"pattern": "**/*.go"}`, "glob", `{"pattern":["**/*.go"]}`},
		{"LS", `{"path": "/r/src", "ignore": ["*.o"]}`, "list_directory", `{"path":"/r/src","pattern":"!*.o"}`},
		{"LS", `{"path": "/r/src"}`, "list_directory", `{"path":"/r/src"}`},
		{"web_crawl", `{"url": "https://example.com/"}`, "web_crawl", `{"urls":["https://example.com/"]}`},
	},
	"text editors": {
		{"str_replace_editor", `{"command": "view", "path": "/r/a.go", "view_range": [3, 9]}`, "read_file", `{"path":"/r/a.go","offset":3,"limit":7}`},
		{"str_replace_based_edit_tool", `{"command": "view", "path": "a.go", "view_range": [3, -1]}`, "read_file", `{"path":"a.go","offset":3,"limit":10000}`},
		{"str_replace_editor", `{"command": "create", "path": "a.go", "file_text": "x"}`, "write_file", `{"path":"a.go","content":"x"}`},
		{"str_replace_editor", `{"command": "str_replace", "path": "a.go", "old_str": "x", "new_str": "y"}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y"}]}`},
		{"str_replace_editor", `{"command": "str_replace", "path": "a.go", "old_str": "x"}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":""}]}`},
		{"str_replace_editor", `{"command": "insert", "path": "a.go", "insert_line": 2, "new_str": "y"}`, "edit_file", `{"path":"a.go","edits":[{"start_line":3,"end_line":2,"new_text":"y\n"}]}`},
		{"str_replace_based_edit_tool", `{"command": "insert", "path": "a.go", "insert_line": 0, "insert_text": "y\n"}`, "edit_file", `{"path":"a.go","edits":[{"start_line":1,"end_line":0,"new_text":"y\n"}]}`},
		{"str_replace_editor", `{"command": "undo_edit", "path": "a.go"}`, "restore_file", `{"path":"a.go","undo":true}`},
	},
	"other clients": {
		{"MultiEdit", `{"file_path": "a.go", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "z", "new_string": "", "replace_all": true}]}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y"},{"old_text":"z","new_text":"","replace_all":true}]}`},
		{"replace", `{"file_path": "/r/a.go", "old_string": "x", "new_string": "y", "expected_replacements": 2, "instruction": "do"}`, "edit_file", `{"path":"/r/a.go","edits":[{"old_text":"x","new_text":"y","expected_count":2}]}`},
		{"replace_string_in_file", `{"filePath": "a.go", "oldString": "x", "newString": "y"}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y"}]}`},
		{"edit_block", `{"file_path": "a.go", "old_string": "x", "new_string": "y", "expected_replacements": 1}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y","expected_count":1}]}`},
		{"search_replace", `{"file_path": "a.go", "old_string": "x", "new_string": "y"}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y"}]}`},
		{"write_to_file", `{"path": "a.go", "content": "x"}`, "write_file", `{"path":"a.go","content":"x"}`},
		{"read", `{"filePath": "a.go", "offset": 3, "limit": 7}`, "read_file", `{"path":"a.go","offset":3,"limit":7}`},
		{"read_many_files", `{"include": ["src/**/*.go"]}`, "read_files", `{"paths":["src/**/*.go"]}`},
		{"read_multiple_files", `{"paths": ["a.go", "b.go"]}`, "read_files", `{"paths":["a.go","b.go"]}`},
		{"list_files", `{"path": "src", "recursive": true}`, "list_directory", `{"path":"src","depth":10}`},
		{"list_directory_with_sizes", `{"path": "src", "sortBy": "size"}`, "list_directory", `{"path":"src","sort":"size"}`},
		{"directory_tree", `{"path": "src", "excludePatterns": ["*.o"]}`, "list_directory", `{"path":"src","depth":3,"pattern":"!*.o"}`},
		{"get_file_info", `{"path": "a.go"}`, "file_info", `{"paths":["a.go"]}`},
		{"search_file_content", `{"pattern": "x", "path": "src", "include": "*.go"}`, "grep", `{"pattern":"x","path":"src","glob":["*.go"]}`},
		{"run_shell_command", `{"command": "ls", "description": "List", "directory": "src"}`, "bash", `{"command":"ls","cwd":"src"}`},
		{"exec_command", `{"cmd": "ls", "workdir": "src", "yield_time_ms": 1000, "max_output_tokens": 1000}`, "bash", `{"command":"ls","cwd":"src","max_output":4000}`},
		{"run_terminal_cmd", `{"command": "npm run dev", "is_background": true, "explanation": "serve"}`, "bash", `{"command":"npm run dev","background":true}`},
		{"run_in_terminal", `{"command": "npm run dev", "explanation": "serve", "isBackground": true}`, "bash", `{"command":"npm run dev","background":true}`},
		{"start_process", `{"command": "python3 -i", "timeout_ms": 5000}`, "bash", `{"command":"python3 -i"}`},
		{"read_process_output", `{"pid": "abcdefgh", "timeout_ms": 5000}`, "job_output", `{"job":"abcdefgh","wait":"5000ms"}`},
		{"interact_with_process", `{"pid": "abcdefgh", "input": "1+1\n"}`, "job_input", `{"job":"abcdefgh","text":"1+1\n"}`},
		{"write_stdin", `{"session_id": "abcdefgh", "chars": "y\n"}`, "job_input", `{"job":"abcdefgh","text":"y\n"}`},
		{"force_terminate", `{"pid": "abcdefgh"}`, "job_stop", `{"job":"abcdefgh"}`},
		{"KillShell", `{"shell_id": "abcdefgh"}`, "job_stop", `{"job":"abcdefgh"}`},
		{"WebFetch", `{"url": "https://a.example/", "prompt": "prices"}`, "web_fetch", `{"url":"https://a.example/","query":"prices"}`},
		{"fetch", `{"url": "https://a.example/", "max_length": 5000, "start_index": 100, "raw": false}`, "web_fetch", `{"url":"https://a.example/","limit":5000,"offset":100}`},
		{"fetch_url", `{"url": "https://a.example/", "method": "post", "headers": {"X-B": "2", "X-A": 1}, "body": "x"}`, "web_fetch", `{"url":"https://a.example/","method":"POST","headers":["X-A: 1","X-B: 2"],"body":"x"}`},
		{"webfetch", `{"url": "https://a.example/", "format": "markdown"}`, "web_fetch", `{"url":"https://a.example/"}`},
		{"WebSearch", `{"query": "x", "allowed_domains": ["a.example"]}`, "web_search", `{"query":"x","include_domains":["a.example"]}`},
		{"google_web_search", `{"query": "x"}`, "web_search", `{"query":"x"}`},
		{"python", `"print(1)"`, "code_interpreter", `{"code":"print(1)"}`},
	},
	"Jarvis": {
		{"glob", `{"pattern": "**/*.go", "path": "src"}`, "glob", `{"pattern":["**/*.go"],"path":"src"}`},
		{"grep", `{"pattern": "TODO", "path": "src", "glob": "*.go"}`, "grep", `{"pattern":"TODO","path":"src","glob":["*.go"]}`},
		{"edit", `{"file_path": "a.go", "old_string": "x", "new_string": "y", "replace_all": true}`, "edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y","replace_all":true}]}`},
		{"bash", `{"command": "ls", "timeout": 5000}`, "bash", `{"command":"ls","timeout":"5000ms"}`},
		{"powershell", `{"command": "Get-ChildItem"}`, "powershell", `{"command":"Get-ChildItem"}`},
		{"schedule_cron", `{"name": "tidy", "cron": "0 9 * * *", "tool": "glob", "args": {"pattern": "*"}}`, "schedule_create", `{"name":"tidy","when":"0 9 * * *","tool":"glob","arguments":{"pattern":"*"}}`},
		{"process", `{"action": "list"}`, "process_list", `{}`},
		{"process", `{}`, "process_list", `{}`},
		{"process", `{"action": "list", "filter": "node"}`, "process_list", `{"name":"node"}`},
		{"process", `{"action": "kill", "pid": "12@34"}`, "process_kill", `{"process":"12@34"}`},
		{"process", `{"action": "start", "command": "make serve"}`, "bash", `{"command":"make serve","background":true}`},
		{"process", `{"action": "output", "id": "j"}`, "job_output", `{"job":"j"}`},
		{"process", `{"action": "write", "id": "j", "input": "y\n"}`, "job_input", `{"job":"j","text":"y\n"}`},
		{"process", `{"action": "Stop", "id": "j"}`, "job_stop", `{"job":"j"}`},
		{"process", `{"action": "jobs", "all": true}`, "job_list", `{"all":true}`},
		{"ask_user_question", `{"questions": [{"question": "Which?", "header": "Db", "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}], "multiSelect": true}]}`, "ask_user", `{"questions":[{"question":"Which?","header":"Db","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multi":true,"free":true}]}`},
		{"ask_user_question", `{"question": "Which?", "options": ["A", "B"]}`, "ask_user", `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}],"free":true}]}`},
		{"process", `"action=list&filter=node"`, "process_list", `{"name":"node"}`},
	},
}

// TestOrigins checks that each call of another system comes to the tool and the arguments of
// ours that mean the same.
func TestOrigins(t *testing.T) {
	names, err := tools.NameTools(all())
	if err != nil {
		t.Fatal(err)
	}
	for system, calls := range origins {
		for _, c := range calls {
			t.Run(system+"/"+c.name+c.args, func(t *testing.T) {
				tool, err := names.Find(c.name, json.RawMessage(c.args))
				if err != nil {
					t.Fatal(err)
				}
				if tool.Name != c.tool {
					t.Fatalf("it is %s, want %s", tool.Name, c.tool)
				}
				bound, err := tool.Bind(json.RawMessage(c.args))
				if err != nil {
					t.Fatal(err)
				}
				own, _ := names.Find(c.tool, nil)
				want, err := own.Bind(json.RawMessage(c.want))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want.Canonical), string(bound.Canonical)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestOriginsRefused checks what no call of another system may come to.
func TestOriginsRefused(t *testing.T) {
	names, err := tools.NameTools(all())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, want string }{
		{"process", `{"action": "clean"}`, "/action: process needs one of "},
		{"process_list", `{"action": "kill"}`, "/action: unknown argument"},
		{"bash", `{"command": "ls", "monitor": {}}`, "/monitor: unknown argument"},
		{"glob", `{"path": "src"}`, "/pattern: required"},
	} {
		tool, err := names.Find(c.name, json.RawMessage(c.args))
		if err == nil {
			_, err = tool.Bind(json.RawMessage(c.args))
		}
		if e := tools.AsError(err); err == nil || e.Code != tools.InvalidArgument || len(e.Msg) < len(c.want) || e.Msg[:len(c.want)] != c.want {
			t.Errorf("%s %s: %v, want %q", c.name, c.args, err, c.want)
		}
	}
}
