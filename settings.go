package braid

import (
	"os"

	"github.com/openbraid/braid/internal/config"
)

// Settings are named values with a memory of where each was said: what people write into files, variables and flags, while Options are what a
// program says. docs/settings.md lists the names. A value is written the same way in all places.
//
//	default < program (Default) < file (ReadFile) < environment (ReadEnv) < given (Set, and fields of Options that are not zero)
//
// Higher ones win, in whatever order they are read. Nothing is read that isn't asked for: FromEnv is the short way to ask for both. The zero
// value is ready to use. Not safe for concurrent use, until it is handed to Open, which copies it.
//
// Source: ucp_config_t, ucp_config_read, ucp_config_modify.
type Settings struct{ set config.Set } // not to be copied: Clone

// Setting is what holds for one name.
type Setting struct {
	Name     string
	Value    string // of a secret: "set" or "unset"
	Default  string // "auto": see Auto
	Origin   string // "default", "program", "file", "environment" or "given"
	Where    string // "braid.conf:3", "BRAID_WINDOW", "Options.Lanes"; "" for a default
	Unit     string // "time", "bytes" or ""
	Grammar  string // what may be written
	Auto     string // what "auto" does, where it may be written
	Variable string // its name in the environment
	Option   string // its field of Options, "" if it has none
	Text     string // what it is
}

// Clone is an independent copy; of nil it is an empty one.
func (s *Settings) Clone() *Settings {
	if s == nil {
		return &Settings{}
	}
	return &Settings{*s.set.Clone()}
}

// FromEnv makes Options from the file that BRAID_CONFIG names, if it is set, and from variables such as BRAID_KEEPALIVE=2s. Fields that the
// program sets in them win over both; to let people win, use Settings.Default.
//
//	o, err := braid.FromEnv()
//	n, err := braid.Open(o)
//
// Errors: a file that can't be read, and every name or value that can't be, with where it stands. An unknown variable is none: see Settings.Warnings.
// Source: ucp_config_read.
func FromEnv() (Options, error) {
	s := &Settings{}
	return Options{Settings: s}, s.ReadEnv(os.Environ())
}

// ReadFile reads lines KEY = VALUE; # begins a comment. At most 1 MiB.
//
// Errors: the file's, or every line that can't be, with its number; the other lines hold. A file with a secret is refused that others can read, or that
// belongs to somebody else than root or who runs this. A pipe of which not all comes within 10 s.
// Source: ucx.conf.
func (s *Settings) ReadFile(name string) error { return s.set.ReadFile(name) }

// ConfigVariable is the environment's variable that names a file of settings.
const ConfigVariable = "BRAID_CONFIG"

// ReadEnv takes NAME=VALUE as os.Environ has them: variables that are settings, and the file that ConfigVariable names, if it names one. One that
// begins with BRAID_ and is no setting is a warning.
//
// Errors: those of ReadFile, and every value that can't be; the others hold.
// Source: UCX_ variables.
func (s *Settings) ReadEnv(environ []string) error {
	return s.set.ReadEnviron(environ, ConfigVariable)
}

// Set says one value, as a flag does. where is what an error and Setting.Where shall name: "--window".
//
// Errors: a name or value that can't be.
// Source: ucp_config_modify.
func (s *Settings) Set(name, value, where string) error {
	return s.set.Put(name, value, config.Origin{Layer: config.Given, Where: where})
}

// Default says what this program takes where nobody says otherwise.
//
// Errors: a name or value that can't be.
func (s *Settings) Default(name, value string) error {
	return s.set.Put(name, value, config.Origin{Layer: config.Program, Where: "this program's default"})
}

// Warnings are the variables that are no settings, each with what was probably meant. Open also logs them, to Options.Log.
//
// Source: UCX_WARN_UNUSED_ENV_VARS.
func (s *Settings) Warnings() []string { return s.set.Warnings() }

// List are all settings with what holds, in the order of docs/settings.md.
//
// Source: ucp_config_print, ucx_info -c.
func (s *Settings) List() []Setting { return list(&s.set) }

// Settings are what holds in this node, and who said so.
func (n *Node) Settings() []Setting { return list(n.set) }

// Options are what holds, as the fields of Options that say the same: rails, lanes, limits, times and so on, with the defaults filled in; what
// is "auto" is zero. Secret, Transports and Log are not among them. It is for programs that go by a setting, whoever said it; who hands it to Open has said all of it.
//
// Source: ucp_context_query, ucp_worker_query.
func (s *Settings) Options() Options { return optionsOf(s.Clone().set.Node()) }

// Options are what holds in this node, as Settings.Options has it.
func (n *Node) Options() Options { return optionsOf(n.set.Node()) }

func list(set *config.Set) []Setting {
	values := set.Values()
	out := make([]Setting, len(values))
	for i, v := range values {
		k := v.Key
		out[i] = Setting{
			Name: k.Name, Value: v.Text, Default: k.Initial(), Origin: v.Origin.Layer.String(), Where: v.Origin.Where, Unit: k.Kind.Unit(),
			Grammar: k.Grammar(), Auto: k.Auto, Variable: k.Variable(), Option: k.Option, Text: k.Text,
		}
	}
	return out
}
