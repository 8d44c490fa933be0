// Package files is the category of tools on files and directories: reading, writing,
// editing, moving, restoring, listing, describing. It also offers the files as
// resources.
//
// Start at [Tools]; each tool is one file. Their engines are below internal: view
// shows files, change writes them, restore brings former contents back. relocate.go
// is what move_path and copy_path share, filter.go the patterns of trees. [Sources] are
// the resources: resources.go and file_resource.go, uri.go their URIs, complete.go
// paths as they are typed. The package opens nothing itself: paths and files come
// from workspace. It must not import another category.
package files
