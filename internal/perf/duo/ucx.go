package duo

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed ucx/put_fence.c
var putFence []byte

// UCX is the program in C, compiled.
type UCX struct{ dir string }

// Build compiles it, if there is what that takes: a C compiler and UCX's headers.
func Build(ctx context.Context) (UCX, error) {
	dir, err := os.MkdirTemp("", "braid-bench-ucx")
	if err != nil {
		return UCX{}, err
	}
	u := UCX{dir}
	source := u.program() + ".c"
	if err := os.WriteFile(source, putFence, 0o600); err != nil {
		u.Close()
		return UCX{}, err
	}
	if out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", u.program(), source, "-lucp", "-lucs").CombinedOutput(); err != nil {
		u.Close()
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return UCX{}, fmt.Errorf("cc with libucx-dev: %w %s", err, first)
	}
	return u, nil
}

func (u UCX) program() string { return filepath.Join(u.dir, "put_fence") }

// Close removes it.
func (u UCX) Close() { os.RemoveAll(u.dir) }

// Puts is the time of n puts of 8 bytes over tcp or shm, in nanoseconds of one, each with a fence behind it or not.
func (u UCX) Puts(ctx context.Context, kind string, fence bool, n int) (float64, error) {
	mode := "put"
	if fence {
		mode = "fence"
	}
	cmd := exec.CommandContext(ctx, u.program(), mode, strconv.Itoa(n))
	cmd.Env = append(os.Environ(), "UCX_TLS="+kind, "UCX_WARN_UNUSED_ENV_VARS=n", "UCX_LOG_LEVEL=error")
	if kind == "tcp" {
		cmd.Env = append(cmd.Env, "UCX_NET_DEVICES=lo")
	}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s %s over %s: %w", u.program(), mode, kind, err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
