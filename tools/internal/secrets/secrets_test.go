package secrets_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/secrets"
)

// marked returns a text without the marks of its secrets, and the text with them redacted.
func marked(text string) (plain, want string) {
	plain = strings.NewReplacer("‹", "", "›", "").Replace(text)
	for {
		before, rest, ok := strings.Cut(text, "‹")
		if !ok {
			return plain, text
		}
		_, after, _ := strings.Cut(rest, "›")
		text = before + secrets.Mark + after
	}
}

// What a shell reads that we do not parse.
func TestLine(t *testing.T) {
	for _, text := range []string{
		"$env:DB_PASS = '‹hunter2›'; ./run", `$password = "‹hunter2›"`, "$token=‹'hunter2'›",
		"ConvertTo-SecureString '‹hunter2›' -AsPlainText -Force", "ConvertTo-SecureString -String ‹hunter2› -AsPlainText -Force",
		"Invoke-RestMethod https://example.com -Headers @{Authorization = '‹Bearer hunter2'}›",
		"Connect-Thing -User me -Password ‹hunter2› -Verbose", "mysql.exe -u me -p‹hunter2› shop", "curl -u me:‹hunter2› https://example.com",
		"'‹hunter2›' | docker login -u me --password-stdin", "docker login -u me -p ‹hunter2›", "psql 'postgres://me:‹hunter2›@db/shop'",
		"az login -u me -p ‹hunter2›", "bash -c 'mysql -p‹hunter2› shop'", "net user me ‹hunter2› /add", "[Environment]::SetEnvironmentVariable('API_KEY', 'x')",
		"Get-ChildItem -Recurse | Select-String password", "Get-Content token.txt", "$p = $env:PASSWORD", "git status; Write-Output done",
	} {
		if plain, want := marked(text); secrets.Line(plain) != want {
			t.Errorf("%s\n got %s\nwant %s", plain, secrets.Line(plain), want)
		}
	}
}

func TestCode(t *testing.T) {
	for _, text := range []string{
		`password = "‹hunter2›"`, `os.environ["DB_PASS"] = '‹hunter2›'`, `connect(host="db", password="‹hunter2›")`,
		`subprocess.run(["mysql", "-p‹hunter2›", "-u", "me"])`, `subprocess.run("mysql -p‹hunter2› shop", shell=True)`,
		`requests.get(url, headers={"X-Api-Key": "‹hunter2›"})`, `create_engine("postgres://me:‹hunter2›@db/shop")`,
		`const token = '‹hunter2›';`, `fetch(url, {headers: {Authorization: "‹Bearer hunter2›"}})`,
		"token = get_token()\nfor key in keys: print(key)", `os.environ["DB_PASS"]`, `password = input()`, "max_tokens=4000",
	} {
		if plain, want := marked(text); secrets.Code(plain) != want {
			t.Errorf("%s\n got %s\nwant %s", plain, secrets.Code(plain), want)
		}
	}
}

func TestName(t *testing.T) {
	for _, name := range []string{
		"DB_PASS", "DBPASS", "pass", "PGPASSWORD", "MYSQL_PWD", "apiKey", "API_KEY", "X-Api-Key", "GITHUB_PAT", "clientSecret", "db.password", "rootpw", "AUTH", "SESSION_COOKIE", "KEY1",
	} {
		if !secrets.Name(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"", "PWD", "OLDPWD", "PATH", "HOST", "KEYBOARD", "PASSWORD_FILE", "TOKEN_URL", "AUTHOR", "monkey", "SSH_AUTH_SOCK", "AWS_ACCESS_KEY_ID", "max_tokens", "user"} {
		if secrets.Name(name) {
			t.Errorf("%s is one", name)
		}
	}
}

func TestFile(t *testing.T) {
	for name, want := range map[string]bool{
		"/root/.netrc": true, "~/.pgpass": true, "a/secret.txt": true, "id_rsa": true, "id_rsa.pub": false, "tls.key": true, "out.txt": false, "": false,
		`C:\x\password.txt`: true, "notes.md": false,
	} {
		if secrets.File(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
