package info

import (
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/carriers"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/softrc"
)

// Report is everything. Parts that were not asked for are empty.
type Report struct {
	Build      *Build      `json:"build,omitempty"`
	Transports []Transport `json:"transports,omitempty"`
	Rails      []Rail      `json:"rails,omitempty"`
	Devices    *Devices    `json:"devices,omitempty"`
	Limits     []Limit     `json:"limits,omitempty"`
	Config     []Setting   `json:"config,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"` // of the settings
	Errors     []string    `json:"errors,omitempty"`   // of the settings
}

// Build is what this program was made of.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, if it was built from a repository
	Modified bool   `json:"modified,omitempty"` // and changed since
	Wire     string `json:"wire"`               // the version of what is sent: the first number must be the peer's
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// BuildOf is this program.
func BuildOf() *Build {
	b := &Build{Version: "(devel)", Wire: wire.Ours().String(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Transport is one that is built in.
type Transport struct {
	Name     string `json:"name"`
	Used     bool   `json:"used"`
	Why      string `json:"why"`
	MaxFrame int    `json:"max_frame"` // bytes
	Local    bool   `json:"local"`     // reaches only listeners of the same worker
	Here     bool   `json:"here"`      // reaches only processes of the same host and user
	ZeroCopy int    `json:"zero_copy"` // bytes from which nothing is copied; 0: never
}

// TransportsOf are those built in, with what the setting "transports" makes of them.
func TransportsOf(s *braid.Settings) (list []Transport) {
	named := strings.Split(value(s, "transports"), ",")
	rc := carriers.RC(named)
	for _, t := range append(braid.Default(), softrc.New(softrc.Options{})) {
		x := Transport{Name: t.Name(), Used: slices.Contains(named, t.Name()), Why: "named by the setting transports"}
		switch {
		case x.Name == "rc" && slices.Contains(named, "verbs"):
			x.Used, x.Why = true, "over adapters: the setting transports names verbs"
			if _, err := verbs.List(); err != nil { // then nothing can be dialed, and nothing takes its place
				x.Used, x.Why = false, err.Error()
			}
		case rc && x.Name == "tcp":
			x.Why = "rc or verbs, which the setting transports names, takes its place"
		case !x.Used && x.Name == "tcp":
			x.Used, x.Why = true, "not named by the setting transports, and kept: the first connection needs it"
		case !x.Used:
			x.Why = "not named by the setting transports"
		}
		f, err := t.Open(transport.Env{Now: func() time.Duration { return 0 }, Rand: func() uint64 { return 0 }, Log: slog.New(slog.DiscardHandler)})
		if err == nil && t.Name() == shm.Host {
			if err = shm.Usable(); err != nil {
				f.Close()
			}
		}
		if err != nil {
			x.Used, x.Why = false, err.Error()
		} else {
			a := f.Attr()
			x.MaxFrame, x.Local, x.Here, x.ZeroCopy = a.MaxFrame, a.Local, a.Here != "", a.ZeroCopy
			f.Close()
		}
		list = append(list, x)
	}
	return list
}

// Setting is one with what holds.
type Setting struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Origin   string `json:"origin"`
	Where    string `json:"where,omitempty"`
	Default  string `json:"default"`
	Unit     string `json:"unit,omitempty"`
	Grammar  string `json:"grammar"`
	Auto     string `json:"auto,omitempty"`
	Variable string `json:"variable"`
	Option   string `json:"option,omitempty"`
	Text     string `json:"text"`
}

// ConfigOf are all settings.
func ConfigOf(s *braid.Settings) (list []Setting) {
	for _, v := range s.List() {
		list = append(list, Setting{
			Key: v.Name, Value: v.Value, Origin: v.Origin, Where: v.Where, Default: v.Default, Unit: v.Unit, Grammar: v.Grammar, Auto: v.Auto,
			Variable: v.Variable, Option: v.Option, Text: v.Text,
		})
	}
	return list
}

func value(s *braid.Settings, name string) string {
	for _, v := range s.List() {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}
