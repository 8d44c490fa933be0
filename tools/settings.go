package tools

import (
	"fmt"
	"reflect"
	"sync/atomic"
)

// Settings are what the configuration can set of a category. [NewSettings] makes them of
// a struct, whose tags say how each field is set; package server/config lists the tags.
// The struct may have methods, on its pointer:
//
//	Check(Host) []SettingError     what is wrong with the values
//	Program(file string) string    the program to start in the place of file, one that tools need
//	Reads() []string               files and directories that programs of tools must be able to read
//	Variables() ([]string, bool)   variables of the environment that programs get, or all
//	Outlasts() bool                what the tools start outlasts the client
type Settings interface {
	// New returns a pointer to a new struct with the defaults.
	New() any
	// Apply puts values to work, a struct that New has made. Calls that run may see the
	// values from before.
	Apply(values any, setup Setup)
}

// SettingError is what is wrong with the value of a setting.
type SettingError struct {
	Key  string // of the file of configuration
	Err  error
	Hint string // what to type instead; "" = the help of the server
}

func (e *SettingError) Error() string { return e.Err.Error() }
func (e *SettingError) Unwrap() error { return e.Err }

// SettingsOf are Settings whose struct is S.
type SettingsOf[S any] struct {
	defaults S
	apply    func(S, Setup)
	now      atomic.Pointer[S]
}

// NewSettings returns settings that have the defaults until others are applied. apply
// passes values on to what works by them; nil = Now is enough.
func NewSettings[S any](defaults S, apply func(S, Setup)) *SettingsOf[S] {
	return &SettingsOf[S]{defaults: defaults, apply: apply}
}

// Now returns the values that were applied last. It is not changed.
func (s *SettingsOf[S]) Now() *S {
	if now := s.now.Load(); now != nil {
		return now
	}
	return &s.defaults
}

// New implements [Settings].
func (s *SettingsOf[S]) New() any {
	values := s.defaults
	return &values
}

// Apply implements [Settings].
func (s *SettingsOf[S]) Apply(values any, setup Setup) {
	typed, ok := values.(*S)
	if !ok {
		panic(fmt.Sprintf("settings: %T applied to %s", values, reflect.TypeFor[S]()))
	}
	now := *typed
	s.now.Store(&now)
	if s.apply != nil {
		s.apply(now, setup)
	}
}
