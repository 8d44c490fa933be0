package redact

import "strings"

// token is a secret with a prefix of its own.
type token struct {
	kind     string
	prefixes string // space separated, as they are written
	chars    string // of the rest: a class below
	min, max int    // how many of them; max 0 = any number
}

// Classes of characters.
const (
	digits    = "0123456789"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexDigits = digits + "abcdef"
	alnum     = digits + upper + "abcdefghijklmnopqrstuvwxyz"
	dashed    = alnum + "-_"
	dotted    = dashed + "."
)

// inName and others are the classes that rules look through often.
var (
	inDigits = classOf(digits)
	inDashed = classOf(dashed)
	inName   = classOf(dotted)
	inWord   = classOf(alnum + "-")
	inBearer = classOf(dotted + "~+/=")
	inSAS    = classOf(dotted + "%+/=")

	inEscapes = classOf(`\%&'`)
)

// tokens are formats that their issuers have published.
var tokens = [...]token{
	{"aws-key", "AKIA ASIA ABIA ACCA", upper + digits, 16, 16},
	{"github-token", "ghp_ gho_ ghu_ ghs_ ghr_", alnum, 36, 255},
	{"github-token", "github_pat_", alnum + "_", 22, 255},
	{"gitlab-token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glagent-", dashed, 20, 255},
	{"slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxo- xapp-", alnum + "-.", 10, 255},
	{"slack-webhook", "hooks.slack.com/services/", alnum + "/", 20, 0},
	{"google-key", "AIza", dashed, 35, 35},
	{"google-token", "ya29.", dotted, 20, 0},
	{"google-secret", "GOCSPX-", dashed, 24, 40},
	{"stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", alnum, 16, 255},
	{"sendgrid-key", "SG.", dotted, 60, 80},
	{"npm-token", "npm_", alnum, 36, 36},
	{"pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBp", dashed, 50, 0},
	{"digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", hexDigits, 64, 64},
	{"huggingface-token", "hf_", alnum, 30, 40},
	{"docker-token", "dckr_pat_ dckr_oat_", dashed, 24, 64},
	{"shopify-token", "shpat_ shpca_ shppa_ shpss_", hexDigits + "ABCDEF", 32, 32},
	{"square-token", "sq0atp- sq0csp- sq0idp-", dashed, 22, 64},
	{"twilio-key", "SK", hexDigits, 32, 32},
	{"mailgun-key", "key-", hexDigits, 32, 32},
	{"databricks-token", "dapi", hexDigits, 32, 32},
	{"linear-key", "lin_api_", alnum, 32, 64},
	{"notion-token", "ntn_ secret_", alnum, 40, 64},
	{"postman-key", "PMAK-", alnum + "-", 50, 70},
	{"newrelic-key", "NRAK-", alnum, 27, 27},
	{"grafana-token", "glsa_ glc_", alnum + "_=+/", 32, 0},
	{"doppler-token", "dp.pt. dp.st. dp.ct.", dotted, 40, 80},
	{"planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", dotted, 32, 64},
	{"vault-token", "hvs. hvb. hvr.", dashed, 24, 0},
	{"age-key", "AGE-SECRET-KEY-1", upper + digits, 58, 58},
	{"tailscale-key", "tskey-", alnum + "-", 16, 0},
	{"sentry-token", "sntrys_ sntryu_", alnum + "_=+/", 40, 0},
	{"figma-token", "figd_", dashed, 40, 0},
	{"supabase-token", "sbp_", hexDigits, 40, 40},
	{"pulumi-token", "pul-", hexDigits, 40, 40},
	{"rubygems-key", "rubygems_", hexDigits, 48, 48},
	{"groq-key", "gsk_", alnum, 40, 64},
	{"xai-key", "xai-", alnum, 60, 100},
	{"replicate-token", "r8_", alnum, 37, 40},
	{"perplexity-key", "pplx-", alnum, 40, 64},
	{"atlassian-token", "ATATT3", dashed + "=", 60, 0},
	{"fly-token", "fm2_", alnum + "+/=_,", 60, 0},
}

func tokenRules() []rule {
	var rules []rule
	for _, t := range tokens {
		chars := classOf(t.chars)
		for prefix := range strings.FieldsSeq(t.prefixes) {
			rules = append(rules, rule{t.kind, strings.ToLower(prefix), func(s string, from, to int) (span, bool) {
				if s[from:to] != prefix || from > 0 && isAlnum(s[from-1]) {
					return span{}, false
				}
				end := chars.run(s, to)
				n := end - to
				if n < t.min || t.max > 0 && n > t.max || end < len(s) && isAlnum(s[end]) {
					return span{}, false
				}
				return span{from: from, to: end}, true
			}})
		}
	}
	return append(rules, rule{"api-key", "sk-", secretKey})
}

// secretKey matches the keys that begin with "sk-". Other names do too; a key has a long
// run without a dash, with a digit in it.
func secretKey(s string, from, to int) (span, bool) {
	if s[from:to] != "sk-" || from > 0 && (isAlnum(s[from-1]) || s[from-1] == '-' || s[from-1] == '_') {
		return span{}, false
	}
	end := inDashed.run(s, to)
	for part := range strings.FieldsFuncSeq(s[to:end], func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) >= 16 && strings.ContainsAny(part, digits) {
			return span{from: from, to: end}, true
		}
	}
	return span{}, false
}

// class is a set of bytes.
type class [256]bool

func classOf(chars string) *class {
	var c class
	for _, b := range []byte(chars) {
		c[b] = true
	}
	return &c
}

// run returns the end of the bytes of the class that begin at a position.
func (c *class) run(s string, at int) int {
	for at < len(s) && c[s[at]] {
		at++
	}
	return at
}

// back returns the beginning of the bytes of the class that end at a position, at most
// limit bytes before it.
func (c *class) back(s string, at, limit int) int {
	low := max(0, at-limit)
	for at > low && c[s[at-1]] {
		at--
	}
	return at
}
