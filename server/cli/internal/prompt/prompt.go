// Package prompt puts the forms of tools before the person at a terminal.
//
// Start at [New]. The package imports the contract of tools alone.
package prompt

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolcrib/tools"
)

// Asker puts a tool's forms before the person at a terminal.
type Asker struct {
	lines chan string // closed at the end of the input
	out   io.Writer
}

// New returns one that reads lines until the process ends: a read of a terminal cannot be
// taken back, and the context of a call must end the wait for it all the same.
func New(in io.Reader, out io.Writer) *Asker {
	a := &Asker{lines: make(chan string), out: out}
	go func() {
		defer close(a.lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			a.lines <- s.Text()
		}
	}()
	return a
}

// Answer asks the forms in the order of their ids. After one that is not
// accepted the others are not asked.
func (a *Asker) Answer(ctx context.Context, forms map[string]tools.Form) (map[string]tools.Answer, error) {
	answers := map[string]tools.Answer{}
	for _, id := range slices.Sorted(maps.Keys(forms)) {
		answer, err := a.form(ctx, forms[id])
		if err != nil {
			return nil, err
		}
		answers[id] = answer
		if answer.Action != tools.Accept {
			break
		}
	}
	return answers, nil
}

func (a *Asker) form(ctx context.Context, form tools.Form) (tools.Answer, error) {
	if len(form.Fields) == 0 {
		line, err := a.line(ctx, form.Message+" [y/N] ")
		switch {
		case errors.Is(err, io.EOF):
			return tools.Answer{Action: tools.Cancel}, nil
		case err != nil:
			return tools.Answer{}, err
		case line == "y" || line == "yes":
			return tools.Answer{Action: tools.Accept}, nil
		}
		return tools.Answer{Action: tools.Decline}, nil
	}
	fmt.Fprintln(a.out, form.Message)
	values := map[string]json.RawMessage{}
	for _, field := range form.Fields {
		value, err := a.field(ctx, field)
		switch {
		case errors.Is(err, io.EOF):
			return tools.Answer{Action: tools.Cancel}, nil
		case err != nil:
			return tools.Answer{}, err
		case value != nil:
			values[field.Name] = value
		}
	}
	return tools.Answer{Action: tools.Accept, Values: values}, nil
}

// field asks for one value until it is valid. It is nil for an optional field
// that is left empty.
func (a *Asker) field(ctx context.Context, f tools.FormField) (json.RawMessage, error) {
	for {
		line, err := a.line(ctx, label(f))
		if err != nil {
			return nil, err
		}
		switch {
		case line == "" && f.Default != nil:
			return f.Default, nil
		case line == "" && !f.Required:
			return nil, nil
		}
		value, problem := fieldValue(f, line)
		if problem == "" {
			return value, nil
		}
		fmt.Fprintln(a.out, problem)
	}
}

func label(f tools.FormField) string {
	text := f.Name
	if f.Title != "" {
		text = f.Title
	}
	if f.Description != "" {
		text += ", " + f.Description
	}
	switch {
	case f.Many:
		text += " (any of " + strings.Join(f.Choices, ", ") + ", with commas)"
	case len(f.Choices) > 0:
		text += " (" + strings.Join(f.Choices, ", ") + ")"
	case f.Type == "boolean":
		text += " (true, false)"
	}
	switch {
	case f.Default != nil:
		text += " [" + strings.Trim(string(f.Default), `"`) + "]"
	case !f.Required:
		text += " [may be empty]"
	}
	return text + ": "
}

// fieldValue turns a typed line into the JSON of the field, or describes the problem
// with it.
func fieldValue(f tools.FormField, line string) (value json.RawMessage, problem string) {
	if line == "" {
		return nil, "a value is wanted"
	}
	wanted := []string{line}
	if f.Many {
		wanted = strings.Split(line, ",")
	}
	for i, choice := range wanted {
		wanted[i] = strings.TrimSpace(choice)
		if len(f.Choices) > 0 && !slices.Contains(f.Choices, wanted[i]) {
			return nil, "one of these is wanted: " + strings.Join(f.Choices, ", ")
		}
	}
	var err error
	if f.Many {
		if value, err = json.Marshal(wanted); err != nil {
			return nil, err.Error()
		}
		return value, ""
	}
	switch f.Type {
	case "boolean":
		if line != "true" && line != "false" {
			return nil, "true or false is wanted"
		}
		return json.RawMessage(line), ""
	case "integer":
		_, err = strconv.ParseInt(line, 10, 64)
	case "number":
		_, err = strconv.ParseFloat(line, 64)
	default:
		if value, err = json.Marshal(line); err != nil {
			return nil, err.Error()
		}
		return value, ""
	}
	if err != nil || !json.Valid([]byte(line)) {
		return nil, "a number is wanted, of type " + f.Type
	}
	return json.RawMessage(line), ""
}

// line shows a prompt and returns the next line, without spaces around it.
func (a *Asker) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(a.out, prompt)
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.out)
		return "", ctx.Err()
	case line, ok := <-a.lines:
		if !ok {
			fmt.Fprintln(a.out)
			return "", io.EOF
		}
		return strings.TrimSpace(line), nil
	}
}
