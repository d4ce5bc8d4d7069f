package pt2

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
)

// TestSchemas compares the arguments of all rules, and their defaults, with the schemas of PyTorch's operators.
func TestSchemas(t *testing.T) {
	python := pyenv.Need(t, "torch", "torchvision")
	var in strings.Builder
	for _, name := range Operators() {
		if python := strings.HasPrefix(name, "_operator.") || strings.HasPrefix(name, "torch.") || strings.HasPrefix(name, "builtins.") || strings.HasPrefix(name, "math."); !python && rules[name].args != positional {
			fmt.Fprintf(&in, "%s\t%s\n", name, rules[name].args)
			base, overload, has := strings.Cut(name, ".")
			if base += "_"; has {
				base += "." + overload
			}
			if r, write, err := ruleOf("torch.ops.aten." + base); err == nil && write { // where PyTorch has one
				fmt.Fprintf(&in, "?%s\t%s\n", base, r.args)
			}
		}
	}
	c := exec.Command(python, "testdata/schemas.py")
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	require.NoError(t, err)
	require.Empty(t, string(out))
}
