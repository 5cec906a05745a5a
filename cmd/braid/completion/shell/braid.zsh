#compdef braid
# Completion of braid for zsh: eval "$(braid completion zsh)", after compinit; or this as _braid in a folder of $fpath.
_braid() {
	local line value text
	local -a described
	for line in "${(@f)$($words[1] __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
		value=${line%%$'\t'*}
		text=${line#*$'\t'}
		case $value in
		'') ;;
		:files) compset -P '--*='; _files ;;
		:dirs) compset -P '--*='; _files -/ ;;
		*=) compadd -Q -S '' -- "$value" ;;
		*) described+=("${value//:/\\:}:$text") ;;
		esac
	done
	if (( $#described )); then
		_describe braid described
	fi
}
if [[ $funcstack[1] == _braid ]]; then
	_braid "$@"
elif (( $+functions[compdef] )); then
	compdef _braid braid
fi
