// Package web is the category of tools that read the web: search it, fetch pages, and ask
// services about it.
//
// Start at [Category]; the settings are in settings.go. Below, internal/lookup asks search
// services and internal/forecast weather services. All requests go through package outbound,
// which decides what may be reached. The package must not import other categories, server or
// mcp-go.
package web
