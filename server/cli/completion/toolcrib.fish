function __toolcrib_complete
	set -l found (toolcrib completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
	if test (count $found) -gt 0
		printf '%s\n' $found
	else
		set -l name (string match -r '^(?:[^=]*=)?' -- (commandline -ct))
		printf '%s\n' $name(__fish_complete_path (string replace -r '^[^=]*=' '' -- (commandline -ct)))
	end
end
complete -c toolcrib -f -a '(__toolcrib_complete)'
