package secrets

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// programs are the programs whose secrets do not show in their words alone, a line each: the
// names with "," between them, the words that must come after that, ":", and
//
//	-p        an option whose value is a secret, attached or in the next word
//	-p+       the same, only attached
//	-u:       one that has the secret after a ":" in its value, or after another of : % , /
//	--with    the same for long ones, and for those with one dash
//	-k=       one with NAME=VALUE, with any name
//	-k!       one whose value is always the next word
//	@2        the second word after these that is no option; @-1 the last, @* all from the second
//	@1/       one with the secret after a "/"
//	==        words with NAME=VALUE, with any name
//	names     a word that is the name of a secret; the secret follows
//	file      its input, if a word names a file of secrets
//	<         its input always; <-S with that word
const programs = `
curl : -u: --user: -U: --proxy-user: -b --cookie --oauth2-bearer --pass --proxy-pass --tlspassword -E: --cert: <-K <--config
wget,wget2 : --password --http-password --ftp-password --proxy-password
http,https,xh,xhs,http-prompt : -a: --auth:
sshpass : -p
mysql,mysqldump,mysqladmin,mysqlimport,mysqlshow,mysqlcheck,mysqlslap,mysqlbinlog,mariadb,mariadb-dump,mariadb-admin,mycli : -p+
mongo,mongosh,mongodump,mongorestore,mongoexport,mongoimport,mongostat,mongotop : -p
redis-cli,valkey-cli,keydb-cli : -a --pass
redis-cli,valkey-cli,keydb-cli auth : @*
redis-cli,valkey-cli,keydb-cli AUTH : @*
etcdctl : --user:
mosquitto_pub,mosquitto_sub,mosquitto_rr : -P --pw
mosquitto_passwd : @-1
rabbitmqctl add_user : @2
rabbitmqctl change_password : @2
redis-cli,valkey-cli,keydb-cli config : names
sqlcmd,bcp,osql,tsql : -P
isql : -P @3
sqlplus,sqlldr,expdp,impdp : @1/
cqlsh,clickhouse-client,rabbitmqadmin,influx,cypher-shell : -p -password
ldapsearch,ldapadd,ldapmodify,ldapdelete,ldappasswd,ldapwhoami,ldapcompare,ldapmodrdn : -w
ldappasswd : -s -a
smbclient,rpcclient,smbget,smbcacls,net,samba-tool : -U% --user%
smbclient : @2
smbmap,rdesktop,evil-winrm,netexec,nxc,crackmapexec : -p
docker,podman,nerdctl,buildah,skopeo,oras,crane,helm,regctl login : -p <--password-stdin
docker,podman secret create : <
kubectl,oc create secret : --from-literal=
oc,cf,ibmcloud,tkn login : -p
az : -p
cf auth : @-1
vault login : @1 <
vault write : ==
vault kv : ==
vault operator unseal : @1
gh,glab auth login : -t <--with-token <--stdin
gh secret set : -b --body <
glab variable set : @-1
heroku config:set : ==
fly,flyctl : -t --access-token
fly,flyctl secrets : == <
ngrok authtoken : @1
ngrok config add-authtoken : @1
wrangler secret put : <
vercel,netlify env : <
doctl : -t
git,npm,pnpm,yarn,pip,pip3,gcloud,az,conda,composer,snap,rclone config : names
aws configure : names
npm,pnpm,yarn set : names
nmcli : names
pulumi config set : @-1
poetry,bundle config : @-1
poetry,flit publish : -p
twine upload : -p
cargo,npm login : @1
gem push : --key -k
nuget setapikey : @1
nuget,dotnet push : -k -ApiKey
rclone obscure : @1
op signin : <
bw login : @2
bw unlock : @1
mc alias set : @-1
s3cmd : --secret_key --access_key
openssl : -k! -K! -passin: -passout: -pass: -hmac -macopt: -psk <stdin <-stdin
openssl passwd : @*
gpg,gpg2 : --passphrase <--passphrase-fd
htpasswd : @-1 <-i
htdigest : @-1
ssh-keygen : -N -P
ssh-add : <
zip,zipcloak,unzip,zipinfo,funzip : -P
7z,7za,7zr,7zz,rar,unrar : -p+ -hp+
pdftk : names
qpdf : --encrypt
open,lftp,ncftp,ncftpput,ncftpget : -u, -p
plink,pscp,psftp,winscp : -pw
sudo,doas : <-S <--stdin
su,runuser,passwd,chpasswd,smbpasswd,kinit,cryptsetup,vncpasswd,gocryptfs,secret-tool,lpass : <
pass insert : <
useradd,usermod,adduser : -p
mkpasswd : @1 <-s <--stdin
wpa_passphrase : @2 <
ipmitool : -P
snmpget,snmpwalk,snmpset,snmpbulkwalk : -c -A -X
security add-generic-password : -w
security add-internet-password : -w
security unlock-keychain : -p
xfreerdp,wlfreerdp : /p:
net user : @2
convertto-securestring : @1 -String <
jq,setx : names
mysqladmin,mariadb-admin : names
kafkacat,kcat : -X=
swaks : -ap
tee,sponge,dd : file
`

// rule says which arguments and input of a program are secrets.
type rule struct {
	after   []string // words that come first, in this order
	options []optionRule
	words   []wordRule
	input   []string // words with which the input is a secret; "" = always
	pairs   bool     // words with NAME=VALUE
	names   bool
	file    bool // the input is a secret if a word names a file of secrets
}

type optionRule struct {
	name     string
	attached bool // the value is always attached to the name
	apart    bool // it is never attached
	sign     byte // before the secret in the value; 0 = the whole value
}

type wordRule struct {
	at   int // from 1; -1 = the last, 0 = all
	sign byte
}

var byProgram = sync.OnceValue(func() map[string][]rule {
	all := map[string][]rule{}
	for line := range strings.Lines(programs) {
		before, after, ok := strings.Cut(line, " : ")
		fields := strings.Fields(before)
		if !ok || len(fields) == 0 {
			continue
		}
		r := rule{after: fields[1:]}
		for spec := range strings.FieldsSeq(after) {
			r.read(spec)
		}
		for name := range strings.SplitSeq(fields[0], ",") {
			all[name] = append(all[name], r)
		}
	}
	return all
})

// read reads one field of a line of programs.
func (r *rule) read(spec string) {
	sign := byte(0)
	if last := spec[len(spec)-1]; len(spec) > 1 && strings.IndexByte(":%,/=", last) >= 0 && spec != "/p:" {
		sign, spec = last, spec[:len(spec)-1]
	}
	switch {
	case spec == "=": // the sign is another =
		r.pairs = true
	case spec == "names":
		r.names = true
	case spec == "file":
		r.file = true
	case spec[0] == '<':
		r.input = append(r.input, spec[1:])
	case spec == "@*":
		r.words = append(r.words, wordRule{})
	case spec == "@-1":
		r.words = append(r.words, wordRule{at: -1})
	case spec[0] == '@':
		r.words = append(r.words, wordRule{int(spec[1] - '0'), sign})
	case strings.HasSuffix(spec, "+"):
		r.options = append(r.options, optionRule{name: strings.TrimSuffix(spec, "+"), attached: true})
	default:
		name := strings.TrimSuffix(spec, "!")
		r.options = append(r.options, optionRule{name: name, apart: name != spec, sign: sign})
	}
}

// rulesOf returns the rules of the program that a word may name.
func rulesOf(word string) []rule {
	if i := strings.LastIndexAny(word, "(`"); i >= 0 { // in an unparsed line
		word = word[i+1:]
	}
	return byProgram()[strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")]
}

// begins returns the first word after those of the rule; ok is false if the rule does not
// apply to the command.
func (r *rule) begins(words []string) (at int, ok bool) {
	for _, want := range r.after {
		i := slices.Index(words[at:], want)
		if i < 0 {
			return 0, false
		}
		at += i + 1
	}
	return at, true
}
