_toolcrib() {
	local -a found
	found=("${(@f)$(toolcrib completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	found=(${found:#})
	if (( ! $#found )); then
		compset -P '*='
		_files
		return
	fi
	compadd -S '' -- ${(M)found:#*=}
	compadd -- ${found:#*=}
}
compdef _toolcrib toolcrib
