package failover

import (
	"os"
	"testing"
)

// TestMatrix shows the whole life of an instance. BRAID_UPDATE=1 writes the golden file anew.
func TestMatrix(t *testing.T) {
	const file = "testdata/matrix.txt"
	got := Matrix()
	if os.Getenv("BRAID_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the matrix changed; BRAID_UPDATE=1 go test writes it anew. It is now:\n%s", got)
	}
}
