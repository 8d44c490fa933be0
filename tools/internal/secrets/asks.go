package secrets

import (
	"slices"
	"strings"
)

// asking are the programs that ask for a secret on their terminal; some with a word that
// must follow.
const asking = `
sudo, su, doas, passwd, ssh, scp, sftp, ssh-add, ssh-keygen, ssh-copy-id, mysql, mysqldump, mysqladmin, mariadb, psql, pg_dump, createuser, mongo, mongosh, sqlplus, sqlcmd,
redis-cli, ldapsearch, ldapmodify, ldapadd, smbclient, kinit, gpg, gpg2, openssl, cryptsetup, ftp, lftp, telnet, htpasswd, zip, unzip, 7z, keytool, ansible-vault, restic, borg,
mkpasswd, vncpasswd, bw, op, pass, age, rage, getpass, login, pkexec, chsh, wpa_passphrase, docker login, podman login, helm login, gh auth, glab auth, npm login, vault login,
az login, oc login, cf login, aws configure, cargo login, twine upload, fly secrets, wrangler secret, heroku login, read -s, read -rs, read -sr, read -sp, read -rsp, ansible -K, ansible-playbook -K`

// Asks reports whether a command may ask for a secret, or read one from its input.
func Asks(words []string) bool {
	for i, word := range words {
		base := word[strings.LastIndexByte(word, '/')+1:]
		for entry := range strings.SplitSeq(asking, ",") {
			name, then, _ := strings.Cut(strings.TrimSpace(entry), " ")
			if base == name && (then == "" || slices.Contains(words[i+1:], then)) {
				return true
			}
		}
	}
	return Command(words).Input
}

var question = later(`(?i)(?:pass|secret|token|\bpin\b|\botp\b|one-time|verification|credential|api.?key|private key)[^\n]{0,120}[:?>]\s*$`)

// Prompt reports whether a line asks for a secret, given that a program has printed it
// last.
func Prompt(line string) bool { return question().MatchString(line) }
