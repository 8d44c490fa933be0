package security

import (
	"fmt"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// commandForms are the usual ways to write a secret on a command line; %s is the secret.
// Only its position tells that it is one.
var commandForms = [...]struct{ name, line string }{
	{"assignment", "DB_PASS=%s true"},
	{"export", "export API_KEY='%s'"},
	{"PGPASSWORD", "PGPASSWORD=%s psql -h 127.0.0.1 -U me shop"},
	{"URL of a database", "psql postgres://me:%s@127.0.0.1/shop"},
	{"curl -u", "curl -u me:%s http://127.0.0.1:9/"},
	{"curl -H Authorization", "curl -H 'Authorization: Bearer %s' http://127.0.0.1:9/"},
	{"curl -H X-Api-Key", "curl -H 'X-Api-Key: %s' http://127.0.0.1:9/"},
	{"curl -b", "curl -b session=%s http://127.0.0.1:9/"},
	{"curl -d JSON", `curl -d '{"user":"me","password":"%s"}' http://127.0.0.1:9/`},
	{"wget --password", "wget --user me --password %s http://127.0.0.1:9/"},
	{"httpie -a", "http -a me:%s 127.0.0.1:9"},
	{"sshpass -p", "sshpass -p %s ssh -p 9 me@127.0.0.1 true"},
	{"mysql -p", "mysql -h 127.0.0.1 -u root -p%s shop"},
	{"mysql --password", "mysql -h 127.0.0.1 --password=%s shop"},
	{"mongo -p", "mongosh --port 9 -u me -p %s shop"},
	{"redis-cli -a", "redis-cli -p 9 -a %s ping"},
	{"ldapsearch -w", "ldapsearch -H ldap://127.0.0.1:9 -D cn=me -w %s"},
	{"smbclient -U", "smbclient //127.0.0.1/s -U me%%%s"},
	{"sqlcmd -P", "sqlcmd -S 127.0.0.1 -U sa -P %s"},
	{"docker login -p", "docker login -u me -p %s 127.0.0.1:9"},
	{"--password-stdin", "echo %s | docker login -u me --password-stdin 127.0.0.1:9"},
	{"sudo -S", "echo '%s' | sudo -S true"},
	{"here-string", "gh auth login --with-token <<< '%s'"},
	{"netrc", "cat > n/.netrc <<'EOF'\nmachine h login me password %s\nEOF"},
	{"npm _authToken", "npm config set //127.0.0.1:9/:_authToken=%s"},
	{"openssl -passin", "openssl rsa -in none.pem -passin pass:%s"},
	{"gpg --passphrase", "gpg --batch --passphrase %s -d none.gpg"},
	{"htpasswd -b", "htpasswd -nb me %s"},
	{"aws configure", "aws configure set aws_secret_access_key %s"},
	{"git clone", "git clone https://me:%s@127.0.0.1:9/x.git"},
	{"zip -P", "zip -P %s n/a.zip none"},
	{"kubectl --from-literal", "kubectl create secret generic s --from-literal=k=%s"},
}

// commandsNotCovered is what the documentation of package secrets says of itself.
const commandsNotCovered = "operands of programs that it does not have, what echo prints for others to see, the body of a script; " +
	"what is put together as the line runs; values of names that do not say what they are; names of files and programs; " +
	"what is typed ahead into a program that echoes then and asks for a secret later, where neither its name nor its prompt tells"

// commandSecrets are as many secrets that look like a word: no two commands share one.
func commandSecrets(text func(n int, chars string) string) []planted {
	const letters = "abcdefghijkmnopqrstuvwxyz"
	var list []planted
	for range 4 * len(commandForms) {
		list = append(list, planted{"", text(9, letters) + "-" + text(4, letters)})
	}
	return list
}

// ways are how a command line reaches a shell, with what it is in.
var ways = [...]struct {
	name string
	call func(line string) (tool string, args map[string]any)
}{
	{"bash", func(line string) (string, map[string]any) { return "bash", commandArgs(line) }},
	{"call_tool", func(line string) (string, map[string]any) {
		return "call_tool", map[string]any{"name": "run_command", "arguments": commandArgs(line)}
	}},
	{"in the words of another", func(line string) (string, map[string]any) {
		return "bash", commandArgs("bash -c '" + strings.ReplaceAll(line, "'", `'\''`) + "'")
	}},
	{"not to be parsed", func(line string) (string, map[string]any) { return "bash", commandArgs(line + "\n)") }},
}

func commandArgs(line string) map[string]any {
	return map[string]any{"command": line, "timeout": "5s", "env": []string{"HOME=n"}}
}

// runCommands runs each form in each way, and returns how many calls that were.
func runCommands(u *harness.ToolUser, secrets []planted) (int, error) {
	for i, s := range secrets {
		tool, args := ways[i/len(commandForms)].call(fmt.Sprintf(commandForms[i%len(commandForms)].line, s.value))
		if _, err := u.Use(tool, args); err != nil {
			return i, err
		}
	}
	return len(secrets), nil
}
