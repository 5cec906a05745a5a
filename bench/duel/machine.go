package duel

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
)

// Machine says on what was measured.
func Machine() string {
	name := "unknown processor"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown release")
	}
	return fmt.Sprintf("%s, %d processors, %s %s, %s", name, runtime.NumCPU(), runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.Version())
}

// PrintLeft says what is not in a table: how many pairs were left out, and what was skipped, each with why.
func PrintLeft(out io.Writer, moved int, skipped []string) {
	if moved > 0 {
		fmt.Fprintf(out, "%d pairs left out: the processors moved, or something else ran on them.\n", moved)
	}
	for _, s := range skipped {
		fmt.Fprintln(out, "skipped:", s)
	}
}

// Number prints three or more digits.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
