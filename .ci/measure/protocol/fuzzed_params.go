package protocol

import "strconv"

// params makes the params of a method, but for _meta.
func (g *grammar) params(m *made) object {
	word := func(key string) part { return part{`"` + key + `"`, quoted(g.word())} }
	named := func(key string, names []string) part {
		m.name = pick(g.rnd, names)
		if g.rnd.IntN(8) == 0 {
			m.name = g.word()
		}
		return part{`"` + key + `"`, quoted(m.name)}
	}
	switch m.method {
	case "tools/call":
		name := named("name", fuzzTools)
		return object{name, {`"arguments"`, g.arguments(m.name).text()}}
	case "initialize":
		version := pick(g.rnd, []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2025-11-25", "2026-07-28", "1"})
		return object{{`"protocolVersion"`, quoted(version)}, {`"capabilities"`, g.capabilities()}, {`"clientInfo"`, g.clientInfo()}}
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return object{named("uri", []string{"toolcrib://job/x", "toolcrib://manual/files", g.fileURI("d/1.txt"), g.fileURI("none"), "nothing:here"})}
	case "prompts/get":
		return object{named("name", fuzzPrompts), {`"arguments"`, object{word(pick(g.rnd, []string{"path", "what", "focus"}))}.text()}}
	case "completion/complete":
		ref, arg := object{{`"type"`, `"ref/prompt"`}, named("name", fuzzPrompts)}, "path"
		if g.rnd.IntN(2) == 0 {
			ref, arg = object{{`"type"`, `"ref/resource"`}, named("uri", []string{"file://{+path}", "toolcrib://job/{handle}"})}, "handle"
		}
		return object{{`"ref"`, ref.text()}, {`"argument"`, object{{`"name"`, quoted(arg)}, word("value")}.text()}}
	case "logging/setLevel":
		return object{{`"level"`, quoted(pick(g.rnd, []string{"debug", "info", "error", "emergency", g.word()}))}}
	case "tasks/get", "tasks/update", "tasks/cancel":
		m.name = g.word()
		return object{{`"taskId"`, quoted(m.name)}, {`"inputResponses"`, g.json(2)}}
	case "subscriptions/listen":
		return object{{`"notifications"`, pick(g.rnd, []string{"{}", `{"toolsListChanged":true}`, `{"resourceSubscriptions":["x:` + g.tail() + `"]}`, g.json(2)})}}
	}
	if g.rnd.IntN(4) == 0 {
		return object{word("cursor")}
	}
	return nil
}

var fuzzPrompts = []string{"review_change", "explain_tree", "find_where"}

// fileURI names a file of the root.
func (g *grammar) fileURI(name string) string { return "file://" + g.root + "/" + name }

// tail is a part of a URI that nobody has sent before.
func (g *grammar) tail() string { return strconv.FormatUint(g.rnd.Uint64(), 36) }

// fuzzTools are tools that read little, or have nothing to act on.
var fuzzTools = []string{
	"read_file", "read_files", "list_directory", "file_info", "file_history", "glob", "grep", "search_tools", "call_tool", "call_read_tool", "job_list", "job_output",
	"job_stop", "job_input", "restore_file",
}

// arguments makes the arguments of a tool: some of them, with values of the right type
// for the most part.
func (g *grammar) arguments(tool string) object {
	var args object
	add := func(key, value string) {
		switch g.rnd.IntN(12) {
		case 0:
		case 1:
			args = append(args, part{`"` + key + `"`, g.json(2)})
		default:
			args = append(args, part{`"` + key + `"`, value})
		}
	}
	text := func(key string) { add(key, quoted(g.word())) }
	number := func(key string) { add(key, strconv.Itoa(g.rnd.IntN(50)-2)) }
	texts := func(key string) { add(key, "["+quoted(g.word())+","+quoted(g.word())+"]") }
	switch tool {
	case "read_file":
		text("path")
		number("offset")
		number("limit")
	case "read_files", "file_info":
		texts("paths")
	case "list_directory":
		text("path")
		text("pattern")
		number("depth")
	case "file_history":
		text("path")
		number("limit")
	case "glob":
		texts("pattern")
		text("path")
		number("offset")
	case "grep":
		text("pattern")
		text("path")
		texts("glob")
		number("context")
		number("limit")
	case "search_tools":
		text("query")
	case "call_tool", "call_read_tool":
		inner := pick(g.rnd, fuzzTools)
		add("name", quoted(inner))
		if inner == tool {
			add("arguments", g.json(2))
		} else {
			add("arguments", g.arguments(inner).text())
		}
	case "job_output":
		text("job")
		text("until")
		number("tail")
	case "job_stop":
		text("job")
	case "job_input":
		text("job")
		text("text")
		text("until")
	case "restore_file":
		text("path")
		text("version")
		add("undo", "true")
		add("dry_run", "true")
	}
	if g.rnd.IntN(10) == 0 {
		args = append(args, part{quoted(g.word()), g.json(2)})
	}
	return args
}
