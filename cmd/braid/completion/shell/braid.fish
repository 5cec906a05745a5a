# Completion of braid for fish: braid completion fish | source
function __braid_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	for line in (command $words[1] __complete $words[2..-1] "$current" 2>/dev/null)
		switch $line
			case ':files*'
				__fish_complete_path "$current"
			case ':dirs*'
				__fish_complete_directories "$current"
			case '*'
				echo $line
		end
	end
end
complete -c braid -f -a '(__braid_complete)'
