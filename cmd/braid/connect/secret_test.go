package connect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openbraid/braid"
)

// TestSecretFileOfOthers: a file that others can read, or change, is refused; its group may read it.
func TestSecretFileOfOthers(t *testing.T) {
	text := braid.NewSecret().Text()
	for mode, ok := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o700: true,
		0o644: false, 0o604: false, 0o660: false, 0o622: false, 0o666: false, 0o602: false, 0o601: false, 0o444: false,
	} {
		path := filepath.Join(t.TempDir(), "braid.secret")
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		s, err := (&SecretFlags{SecretFile: path}).Secret()
		if ok != (err == nil) || ok != s.IsSet() {
			t.Errorf("mode %04o: %v, %v", mode, s, err)
		}
		if !ok && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: what is to be done? %v", mode, err)
		}
	}
}
