_toolcrib() {
	local IFS=$'\n'
	COMPREPLY=($(toolcrib completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
	[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _toolcrib toolcrib
