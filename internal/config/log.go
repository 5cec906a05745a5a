package config

import (
	"log/slog"
	"os"
)

// LogHandler is for who hands in no log: silent, or to standard error from the level on that the setting has.
func (n *Node) LogHandler() slog.Handler {
	levels := []slog.Level{1: slog.LevelError, 2: slog.LevelWarn, 3: slog.LevelInfo, 4: slog.LevelDebug} // the words of the setting
	if n.Log == 0 {
		return slog.DiscardHandler
	}
	return slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: levels[n.Log]})
}
