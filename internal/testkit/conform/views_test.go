package conform

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/viewfuzz"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
)

// addViews adds random chains of views, as the default passes leave them: at sets of sizes
// that the interpreter takes, generated code must give the same results as for the original
// chain.
func addViews(t *testing.T, p *program, engine string, generate generator) (checks []func(*testing.T, map[string][]*array.Array)) {
	count := uint64(16)
	if os.Getenv("GOFX_NIGHTLY") == "1" {
		count = 200
	}
	for seed := range count {
		m := viewfuzz.Build(seed)
		pkg := fmt.Sprintf("%sviews%d", engine, seed)
		var sets, want [][]*array.Array
		for _, env := range viewfuzz.Sets(m, seed, viewfuzz.SetsPerChain) {
			in := viewfuzz.Inputs(m, env)
			if out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in); err == nil {
				sets, want = append(sets, in), append(want, out)
			}
		}
		done := graph.Clone(m)
		_, err := passes.Run(ctx, done, fx.Optimise(), passes.Options{})
		require.NoError(t, err, m.String())
		files, err := generate(done, pkg)
		require.NoError(t, err, m.String())
		p.add(pkg, files, sets...)
		checks = append(checks, func(t *testing.T, got map[string][]*array.Array) {
			for k := range sets {
				if d := fxtest.SameArrays(want[k], got[fmt.Sprintf("%s/%d", pkg, k)]); d != "" {
					t.Errorf("chain %d, set %d, engine %s: %s\n%s\nbecame\n%s", seed, k, engine, d, m, done)
				}
			}
		})
	}
	return checks
}
