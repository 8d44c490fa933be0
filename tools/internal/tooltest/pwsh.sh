#!/usr/bin/env bash
# Stands for pwsh where there is none: its command line, its exit codes, and the few
# commands that the tests use, which bash then runs.
interactive=yes
while [ $# -gt 0 ]; do
	case $1 in
	-NoLogo | -NoProfile) ;;
	-NonInteractive) interactive= ;;
	-Command) break ;;
	*) echo "The argument '$1' is not recognized as an option." >&2; exit 64 ;;
	esac
	shift
done
[ $# -eq 2 ] || { echo "pwsh: $# words are left, not -Command and a line" >&2; exit 64; }

Write-Output() { printf '%s\n' "$@"; }
Get-Content() { cat -- "$@"; }
Set-Content() { printf '%s\n' "$4" > "$2"; } # -Path a -Value b
Remove-Item() { rm -- "$@"; }
Start-Sleep() { sleep "$2"; } # -Seconds n
Read-Host() {
	[ -n "$interactive" ] || { echo 'Read-Host: PowerShell is in NonInteractive mode.' >&2; return 1; }
	printf '%s: ' "$1"
	read -r REPLY && printf '%s\n' "$REPLY"
}
eval "${2//\$env:/\$}" || exit 1
