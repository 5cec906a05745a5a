package plan

import (
	"fmt"
	"os"
	"strings"

	"github.com/openbraid/braid/fault"
)

// Read reads a file of that name, or text that is a plan itself.
func Read(arg string) (fault.Plan, error) {
	text, err := os.ReadFile(arg)
	if err == nil {
		p, err := fault.ParsePlan(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		return p, nil
	}
	p, bad := fault.ParsePlan(arg)
	switch {
	case bad == nil:
		return p, nil
	case !strings.ContainsAny(arg, " =;"):
		return nil, fmt.Errorf("%s: neither a file (%w) nor a rule (%w)", arg, err, bad)
	}
	return nil, bad
}
