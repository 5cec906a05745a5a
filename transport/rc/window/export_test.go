package window

// Matrix is the table of states.
func Matrix() string { return life.Matrix() }
