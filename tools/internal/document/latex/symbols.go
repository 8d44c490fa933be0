package latex

import "strings"

var accents = map[string]string{
	"̂": `\hat`, "^": `\hat`, "̃": `\tilde`, "~": `\tilde`, "̅": `\overline`, "¯": `\overline`, "‾": `\overline`,
	"⃗": `\vec`, "→": `\vec`, "̇": `\dot`, "˙": `\dot`, "̈": `\ddot`, "¨": `\ddot`,
}

// symbols replaces the signs that LaTeX has names for.
func symbols(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if ascii {
		return text
	}
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		name := symbol(r)
		if name == "" {
			b.WriteRune(r)
			continue
		}
		b.WriteString(name)
		if i+1 < len(runes) || name[0] == '\\' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func symbol(r rune) string {
	const greek = "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega " +
		"Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega "
	const signs = "∑ sum ∏ prod ∫ int ∬ iint ∮ oint √ sqrt ∞ infty ∂ partial ∇ nabla ± pm ∓ mp × times ÷ div · cdot ⋅ cdot ≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ∝ propto " +
		"∈ in ∉ notin ⊂ subset ⊆ subseteq ∪ cup ∩ cap ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ land ∨ lor → to ← leftarrow ⇒ Rightarrow ⇔ Leftrightarrow ↦ mapsto … ldots ⋯ cdots ∘ circ ⊗ otimes ⊕ oplus ‖ | "
	switch r {
	case '−':
		return "-"
	case '\u2061', '\u2062', '\u2063':
		return ""
	}
	for _, table := range []string{greek, signs} {
		if _, rest, ok := strings.Cut(table, string(r)+" "); ok && r > 0x7f {
			name, _, _ := strings.Cut(rest, " ")
			return `\` + name
		}
	}
	return ""
}
