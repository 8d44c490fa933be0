// Package files is the category of tools that read, write, edit, move, restore, list and
// describe files and directories. It also offers files as resources.
//
// Start at [Tools]; each tool is one file. Three packages below internal do the work: view
// shows files, change writes them, restore brings former contents back. move_path and
// copy_path share relocate.go; filter.go has the patterns that select entries of a tree.
// [Sources] has the resources: resources.go and file_resource.go, with uri.go for their URIs
// and complete.go for the completion of paths. The package opens nothing itself: paths and
// files come from workspace. It must not import another category.
package files
