// Package change carries out changes of files, and words their results and errors. It
// is for the tools that write, edit, patch, move and delete.
//
// Start at [Writer] in written.go: every change goes through its Apply. writing.go is
// a call that writes a file, with content.go for the form of the text; editing.go a
// call that edits one; patching.go, patchstep.go and patched.go a patch.
// placeholder.go refuses text such as "rest of the code unchanged". conflict.go words
// what stands where something else was expected. measure.go tells what cannot be
// undone.
//
// The package imports view, for what the caller has seen. It must not import the
// category, nor package restore.
package change
