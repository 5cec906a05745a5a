# Completion of braid for bash: eval "$(braid completion bash)"
_braid() {
	local cur=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT} words whole candidate
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	whole=${words[-1]}
	# bash cuts words at = and :, and wants only what stands behind the last cut.
	[[ $cur == [=:] ]] && cur=""
	local cut=${whole%"$cur"}
	COMPREPLY=()
	while IFS=$'\t' read -r candidate _; do
		case $candidate in
		:files) compopt -o filenames && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur") ;;
		:dirs) compopt -o filenames && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur") ;;
		*=) compopt -o nospace && COMPREPLY+=("${candidate#"$cut"}") ;;
		*) COMPREPLY+=("${candidate#"$cut"}") ;;
		esac
	done < <("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _braid braid
