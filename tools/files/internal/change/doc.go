// Package change changes files, and formats the results and errors for the model. The tools
// that write, edit, patch, move and delete use it.
//
// Start at [Writer] in written.go: every change goes through its Apply. writing.go is for
// calls that write a file, with content.go for the form of the text; editing.go is for calls
// that edit one; patching.go, patchstep.go and patched.go are for patches. placeholder.go
// refuses text such as "rest of the code unchanged". conflict.go describes conflicts between
// the expected and the present content.
//
// The package imports view, which knows the contents that the caller has seen. It must not import the
// category or package restore.
package change
