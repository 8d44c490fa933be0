package tools

import (
	"fmt"
	"reflect"
	"sync/atomic"
)

// Settings are the part of a category that the configuration can set. [NewSettings] makes
// them from a struct whose tags say how each field is set; package server/config lists the
// tags. A pointer to the struct may have these methods:
//
//	Check(Host) []SettingError     the errors in the values
//	Program(file string) string    the program to start instead of file, a Binary of a Need
//	Has(setting string) bool       whether a Setting of a Need has a value
//	Reads() []string               files and directories that programs of tools must be able to read
//	Variables() ([]string, bool)   environment variables that programs get; true = all
//	Outlasts() bool                whether processes that tools start outlast the client
type Settings interface {
	// New returns a pointer to a new struct with the defaults.
	New() any
	// Apply makes values effective; they are a pointer that New returned. Running calls may
	// still see the old values.
	Apply(values any, setup Setup)
}

// SettingError is an error in the value of a setting.
type SettingError struct {
	Key  string // in the configuration file
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

// NewSettings returns settings that have the defaults until others are applied. apply is
// called with each new set of values, for code that does not ask Now; nil = none.
func NewSettings[S any](defaults S, apply func(S, Setup)) *SettingsOf[S] {
	return &SettingsOf[S]{defaults: defaults, apply: apply}
}

// Now returns the values that were applied last. They are never changed.
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
