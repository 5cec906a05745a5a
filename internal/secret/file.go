package secret

import (
	"fmt"
	"io/fs"
)

// Who may do what with a file that has a secret in it. Its group may read it: that is how service accounts, and containers, are given one.
const (
	othersAny  fs.FileMode = 0o007
	groupWrite fs.FileMode = 0o020
)

// MayHold refuses a file with a secret in it that others can read or change: what all users of a machine know is no secret.
func MayHold(mode fs.FileMode) error {
	if mode &= fs.ModePerm; mode&(othersAny|groupWrite) != 0 {
		return fmt.Errorf("it has a secret, and its mode %04o lets others read or change it: chmod 600 it, and make a new secret if others had the chance", mode)
	}
	return nil
}
