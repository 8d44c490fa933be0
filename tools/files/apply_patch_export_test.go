package files

// ApplyPatchTool is the tool for its tests.
var ApplyPatchTool = applyPatchTool
