package lowering_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
)

// idle is a target that lets time pass before it reads its operands.
type idle struct{ picky }

type idleExecutable struct{ lowering.Executable }

func (i idle) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := i.picky.Compile(m, o)
	return idleExecutable{e}, err
}

func (e idleExecutable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	time.Sleep(20 * time.Millisecond)
	return e.Executable.Run(ctx, in)
}

// TestPartsReadStateBeforeItIsWritten: a part that reads what a later call writes computes of what
// was there before, however long it takes to begin.
func TestPartsReadStateBeforeItIsWritten(t *testing.T) {
	for name, text := range map[string]string{
		"state": `
graph net(%x: f32[2]) {
  %s = get_attr[s] : f32[2]
  %y = call_function[exp](%s) : f32[2]
  %w = call_function[assign](%s, %x) : f32[2]
  return %y
}
param s : f32[2]
`,
		"a view of it": `
graph net(%x: f32[2]) {
  %s = get_attr[s] : f32[2]
  %v = call_function[flip](%s) {dims=[0]} : f32[2]
  %u = call_function[unsqueeze](%s) {dim=0} : f32[1,2]
  %y = call_function[exp](%u) : f32[1,2]
  %w = call_function[assign](%s, %x) : f32[2]
  return (%y, %v)
}
param s : f32[2]
`,
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, text)
			p := *m.Param("s")
			p.Value = array.FromSlice([]float32{1, 2})
			m.SetParam(p)
			e := pieces(t, m, idle{only("exp")}, lowering.Options{Exact: true})
			for _, x := range []float32{3, 4} {
				in := []*array.Array{array.FromSlice([]float32{x, x})}
				want := interpret(t, m, in)
				got, err := e.Run(context.Background(), in)
				require.NoError(t, err)
				fxtest.Same(t, "net", want[:1], got[:1])
				p.Value = in[0]
				m.SetParam(p) // what the run wrote
			}
		})
	}
}
