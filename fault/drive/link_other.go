//go:build !linux

package drive

import "errors"

func setLink(string, bool) (bool, error) { return false, errors.ErrUnsupported }
