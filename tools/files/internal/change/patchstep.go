package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/patch"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// compute is the Op.New of the change.
func (p *Patching) compute(old workspace.Old) (data []byte, err error) {
	p.Old, p.results, p.whole = old, nil, true
	if p.kind == patch.Add {
		p.after = []byte(p.steps[0].Content)
		return p.after, nil
	}
	if err := p.patchable(); err != nil {
		return nil, err
	}
	p.after = old.Data
	for _, step := range p.steps {
		result, err := p.patch(p.after, step)
		if err != nil {
			return nil, err
		}
		p.results = append(p.results, result)
		p.after = result.Data
	}
	return p.after, nil
}

// computeCopy is the Op.New of a copy: it returns the present content of the source.
func (p *Patching) computeCopy(workspace.Old) ([]byte, error) {
	data, err := view.ReadAll(p.source, workspace.MaxEdit)
	if err != nil {
		return nil, err
	}
	return p.compute(workspace.Old{Exists: true, Data: data, Hash: contentHash(data)})
}

// patchable detects the form of the file and refuses one that is not text.
func (p *Patching) patchable() error {
	switch {
	case !p.Old.Exists:
		return tools.Errorf(tools.NotFound, "%s does not exist any more", p.Path).WithHint("*** Add File: makes files")
	case p.Old.Cut:
		return tools.Errorf(tools.TooLarge, "%s has %s; files of up to %s can be patched", p.Path, textfile.Size(p.Old.Info.Size), textfile.Size(workspace.MaxEdit)).
			WithHint("change it with a program such as sed")
	}
	var err error
	if p.form, err = formOf(p.Path, p.Old, p.named); err != nil || !p.form.Binary {
		return err
	}
	for _, step := range p.steps {
		if len(step.Chunks) > 0 {
			return view.NotText(p.Path, p.Old.Data, p.form)
		}
	}
	return nil
}

// patch applies one section to a content.
func (p *Patching) patch(data []byte, step patch.File) (textedit.Result, error) {
	if len(step.Chunks) == 0 {
		return textedit.Result{Data: data}, nil
	}
	var come strings.Builder
	for _, c := range step.Chunks {
		for _, l := range c.Lines {
			if l.Op == '+' {
				come.WriteString(l.Text + "\n")
			}
		}
	}
	if err := (Content{Path: p.Path, Text: come.String()}).refuseGuess(p.Old, p.form); err != nil {
		return textedit.Result{}, err
	}
	text, err := textedit.Parse(data, p.form)
	if err != nil {
		return textedit.Result{}, p.refuse(err.Error(), "", err)
	}
	chunks := step.Chunks
	if n := p.form.Encoding.Count(data[p.form.BOM:]); step.CRLF && n.LF+n.CRLF == 0 {
		chunks = endedByCRLF(chunks)
	}
	result, err := text.Patch(chunks)
	if err == nil {
		return result, nil
	}
	m, ok := errors.AsType[*textedit.Mismatch](err)
	if !ok {
		return result, p.refuse(err.Error(), "", err)
	}
	detail := strings.Join(append([]string{m.Detail}, step.Doubts...), "\n")
	return result, p.refuse(fmt.Sprintf("%s (patch line %d)", m.Msg, step.At[min(max(m.Edit, 0), len(step.At)-1)]), detail, err)
}

// endedByCRLF makes added lines end with CRLF, for a file that has no line ending to follow.
func endedByCRLF(chunks []textedit.Chunk) []textedit.Chunk {
	out := slices.Clone(chunks)
	for i, c := range out {
		out[i].Lines = slices.Clone(c.Lines)
		open := c.NoFinalNewline != nil && *c.NoFinalNewline
		for j, l := range c.Lines {
			if l.Op == '+' && (!open || j < len(c.Lines)-1) {
				out[i].Lines[j].Text += "\r"
			}
		}
	}
	return out
}

func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
