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

//go:embed ucx/many.c
var many []byte

// UCX is the programs in C, compiled.
type UCX struct{ dir string }

// Build compiles it, if there is what that takes: a C compiler and UCX's headers.
func Build(ctx context.Context) (UCX, error) {
	dir, err := os.MkdirTemp("", "braid-bench-ucx")
	if err != nil {
		return UCX{}, err
	}
	u := UCX{dir}
	for name, text := range map[string][]byte{"put_fence": putFence, "many": many} {
		source := u.program(name) + ".c"
		if err := os.WriteFile(source, text, 0o600); err != nil {
			u.Close()
			return UCX{}, err
		}
		if out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", u.program(name), source, "-lucp", "-lucs").CombinedOutput(); err != nil {
			u.Close()
			first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			return UCX{}, fmt.Errorf("cc with libucx-dev: %w %s", err, first)
		}
	}
	return u, nil
}

func (u UCX) program(name string) string { return filepath.Join(u.dir, name) }

// Close removes it.
func (u UCX) Close() { os.RemoveAll(u.dir) }

// Puts is the time of n puts of 8 bytes over tcp or shm, in nanoseconds of one, each with a fence behind it or not.
func (u UCX) Puts(ctx context.Context, kind string, fence bool, n int) (float64, error) {
	mode := "put"
	if fence {
		mode = "fence"
	}
	return u.run(ctx, kind, "put_fence", mode, strconv.Itoa(n))
}

// Many is the memory of one of n endpoints over tcp or shm, in bytes, both ends together.
func (u UCX) Many(ctx context.Context, kind string, n int) (float64, error) {
	return u.run(ctx, kind, "many", strconv.Itoa(n))
}

// run runs a program that prints a number.
func (u UCX) run(ctx context.Context, kind, name string, args ...string) (float64, error) {
	cmd := exec.CommandContext(ctx, u.program(name), args...)
	cmd.Env = append(os.Environ(), "UCX_TLS="+kind, "UCX_WARN_UNUSED_ENV_VARS=n", "UCX_LOG_LEVEL=error")
	if kind == "tcp" {
		cmd.Env = append(cmd.Env, "UCX_NET_DEVICES=lo")
	}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s %s over %s: %w", name, strings.Join(args, " "), kind, err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
