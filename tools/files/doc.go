// Package files is the category of tools on files and directories: reading,
// listing, describing. It also offers the files as resources.
//
// Start at [Tools]; each tool is one file. source.go is an open file and what is
// known of it, lines.go and bytes.go are windows of it, lineindex.go remembers where
// its lines begin; media.go and picture.go show images, notebook.go notebooks;
// expand.go and shares.go are what read_files reads and how much of each.
// description.go is what file_info says of a path, tree.go what list_directory shows. [Sources] are the
// resources: resources.go and file_resource.go, uri.go their URIs, complete.go
// paths as they are typed. The package opens nothing itself: paths and files come
// from workspace. It must not import another category.
package files
