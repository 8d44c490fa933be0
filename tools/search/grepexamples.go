package search

import "toolcrib/tools"

func grepExamples() []tools.Example[GrepIn] {
	return []tools.Example[GrepIn]{
		{
			Say: "where a function is defined; few matches bring their context",
			Files: map[string]string{
				"a.go":      "package a\n\n// Open opens.\nfunc Open() error {\n\treturn nil\n}\n",
				"b.go":      "package a\n\nvar x = Open()\n",
				"notes.txt": "func Open\n",
			},
			In:   GrepIn{Pattern: `func Open\(`, Type: []string{"go"}},
			Want: "1 match in 1 of 2 files\na.go\n2-\t\n3-\t// Open opens.\n4\tfunc Open() error {\n5-\t\treturn nil\n6-\t}\n",
		},
		{
			Say: "a page of matches",
			Files: map[string]string{
				"a.txt":     "red\ngreen\nred\n",
				"sub/b.txt": "red\nRed\nblue\n",
			},
			In:   GrepIn{Pattern: "red", Limit: 2, Offset: 1},
			Want: "matches 2-3, more follow; 2 files searched; next: offset=3\na.txt\n3\tred\n\nsub/b.txt\n1\tred\n… 1 more in this file\n",
		},
		{
			Say: "which files match, and how often",
			Files: map[string]string{
				"a.txt":     "red\ngreen\nred\n",
				"sub/b.txt": "red\n",
				"c.txt":     "blue\n",
			},
			In:   GrepIn{Pattern: "red", Mode: "count"},
			Want: "2 of 3 files, 3 matches in all\n2\ta.txt\n1\tsub/b.txt\n",
		},
		{
			Say: "nothing found",
			Files: map[string]string{
				"a.go":       "package a\n",
				"build/b.go": "package needle\n",
				"b.bin":      "\x00needle",
				".ignore":    "build/\n",
			},
			In:   GrepIn{Pattern: "needle"},
			Want: "0 matches in 2 files searched below .; left out: 1 ignored, 1 binary; include_ignored:true searches the ignored ones too\n",
		},
	}
}
