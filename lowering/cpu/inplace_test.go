package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	_ "github.com/gofx-dev/gofx/op/std"
)

// copies counts the steps that copy to state.
func copies(p *plan.Plan) (n int) {
	for i := range p.Steps {
		st := &p.Steps[i]
		if _, is := st.Kernel.(*kernel.Copy); is && p.Buffers[st.Out[0]].Kind == plan.Weight {
			n++
		}
	}
	return n
}

// TestUpdateState: what is assigned is made in the state where no run can tell, and nowhere else.
// Two runs of the plan and of the interpreter give the same results and leave the same state.
func TestUpdateState(t *testing.T) {
	for _, c := range []struct {
		name, body string
		copies     int
	}{
		{"an update", "%n = add(%a, %x)\n%w = assign(%a, %n)\nreturn %x", 0},
		{"a chain of updates", "%n = mul(%a, %x)\n%m = add(%b, %n)\n%v = assign(%a, %n)\n%w = assign(%b, %m)\nreturn %x", 0},
		{"what does not read the state", "%n = exp(%x)\n%w = assign(%a, %n)\nreturn %x", 0},
		{"a reduction", "%n = sum(%c) {dim=[0]}\n%w = assign(%a, %n)\nreturn %x", 0},
		{"the result reads the new value", "%n = add(%a, %x)\n%w = assign(%a, %n)\n%r = exp(%w)\nreturn %r", 0},
		{"the new value is a result", "%n = add(%a, %x)\n%w = assign(%a, %n)\nreturn %n", 1},
		{"the assignment is a result", "%n = add(%a, %x)\n%w = assign(%a, %n)\nreturn %w", 0},
		{"the old value is a result", "%o = clone(%a)\n%n = add(%a, %x)\n%w = assign(%a, %n)\nreturn %o", 0},
		{"the old value is read after the step", "%n = add(%a, %x)\n%s = softmax(%n) {dim=0}\n%o = softmax(%a) {dim=0}\n%w = assign(%a, %n)\n%r = add(%s, %o)\nreturn %r", 1},
		{"a view of the old value is read after the step", "%t = flip(%a) {dims=[0]}\n%k = reshape(%a) {shape=[2,2]}\n%n = add(%t, %x)\n%r = exp(%k)\n%q = softmax(%r) {dim=0}\n%w = assign(%a, %n)\nreturn %q", 1},
		{"the step reads the state in another order", "%t = t(%c)\n%n = add(%t, %x)\n%w = assign(%c, %n)\nreturn %x", 1},
		{"the step reads the state broadcast", "%k = reshape(%a) {shape=[4,1]}\n%n = add(%k, %x)\n%w = assign(%c, %n)\n%s = sum(%n) {dim=[0]}\n%v = assign(%a, %s)\nreturn %x", 0},
		{"one step for two tensors", "%n = mul(%a, %x)\n%m = add(%b, %n)\n%k = mul(%n, %m)\n%v = assign(%a, %n)\n%w = assign(%b, %m)\nreturn %k", 0},
		{"one step that reads a tensor after it has its value", "%n = mul(%a, %x)\n%m = add(%n, %a)\n%v = assign(%a, %n)\n%w = assign(%b, %m)\nreturn %x", 1},
		{"one step for two tensors and a result", "%n = mul(%a, %x)\n%m = sub(%n, %b)\n%v = assign(%a, %n)\nreturn %m", 0},
		{"one step, values exchanged", "%n = mul(%a, %b)\n%m = sub(%n, %b)\n%v = assign(%b, %n)\n%w = assign(%a, %m)\nreturn %x", 1},
		{"one step, the same value twice", "%n = mul(%a, %x)\n%m = add(%n, %x)\n%v = assign(%a, %n)\n%w = assign(%b, %n)\n%q = sum(%m)\nreturn %q", 1},
		{"one step, a value as it was", "%n = clone(%b)\n%m = add(%n, %a)\n%v = assign(%a, %n)\n%w = assign(%b, %m)\nreturn %x", 1},
		{"one step, then a tensor that is read", "%n = mul(%a, %x)\n%m = add(%b, %n)\n%v = assign(%a, %n)\n%w = assign(%b, %m)\n%r = mul(%v, %w)\nreturn %r", 0},
		{"two tensors exchanged", "%m = exp(%b)\n%n = exp(%a)\n%v = assign(%a, %m)\n%w = assign(%b, %n)\nreturn %x", 1},
		{"one value for two tensors", "%n = add(%a, %x)\n%v = assign(%a, %n)\n%w = assign(%b, %n)\nreturn %x", 1},
		{"assigned twice", "%n = add(%a, %x)\n%v = assign(%a, %n)\n%m = exp(%n)\n%w = assign(%a, %m)\n%r = mul(%n, %x)\n%q = softmax(%r) {dim=0}\nreturn %q", 1},
		{"a body writes the state, and the new value is read after it", "%n = add(%a, %x)\n%w = assign(%a, %n)\n%k = sum(%n)\n%q = gt(%k, %k)\n%f = cond(%q, %x) : (f32[4]) {\n    region yes(%p: f32[4]) {\n      return (%p)\n    }\n    region no(%p: f32[4]) {\n      %o = get_attr[a] : f32[4]\n      %z = call_function[assign](%o, %p) : f32[4]\n      return (%z)\n    }\n  }\n%g = getitem(%f) {index=0}\n%r = sub(%n, %g)\nreturn %r", 1},
		{"an input", "%w = assign(%a, %x)\nreturn %x", 1},
		{"a step that may fail comes in between", "%n = add(%a, %x)\n%g = index_select(%a, %i) {dim=0}\n%w = assign(%a, %n)\nreturn %g", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs [2][]string
			for k := range runs {
				m := stateful(t, c.body)
				x := []*array.Array{array.FromSlice([]float32{1, 2, 3, 5}, 4), array.FromSlice([]int64{1, 3}, 2)}
				var e *cpu.Executable
				if k == 1 {
					e = compile(t, m, lowering.Options{Exact: true})
					require.Equal(t, c.copies, copies(e.Plan()), e.Plan().String())
				}
				var kept []*array.Array
				var had []string
				for range 2 {
					var out []*array.Array
					if k == 0 {
						out = interpret(t, m, x...)
					} else {
						var err error
						out, err = e.Run(ctx, x)
						require.NoError(t, err)
					}
					kept, had = append(kept, out...), append(had, array.Format(out[0], 50))
				}
				runs[k] = had
				for i, out := range kept {
					if k == 0 {
						break // the interpreter's may lie in the state
					}
					require.Equal(t, had[i], array.Format(out, 50), "a result has changed")
				}
				for _, p := range m.Params() {
					a := p.Value
					if e != nil && e.State(p.Path) != nil {
						a = e.State(p.Path)
					}
					runs[k] = append(runs[k], p.Path+array.Format(a, 50))
				}
			}
			require.Equal(t, runs[0], runs[1])
		})
	}
}

// stateful parses a graph with the tensors a, b, of 4 elements, and c, of 4×4.
func stateful(t *testing.T, body string) *graph.Module {
	t.Helper()
	var b strings.Builder
	b.WriteString("gofx 1\ngraph net(%x: f32[4], %i: i64[2]) {\n  %a = get_attr[a] : f32[4]\n  %b = get_attr[b] : f32[4]\n  %c = get_attr[c] : f32[4,4]\n")
	for _, line := range strings.Split(body, "\n") {
		if name, call, ok := strings.Cut(line, " = "); ok && !strings.Contains(call, "get_attr[") && !strings.Contains(call, "call_function[") {
			o, rest, _ := strings.Cut(call, "(")
			line = name + " = call_function[" + o + "](" + rest
		}
		b.WriteString("  " + line + "\n")
	}
	m, err := graph.Parse([]byte(b.String()+"}\n"), "test.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "a", Value: array.FromSlice([]float32{1, -2, 0.5, 4}, 4), Buffer: true})
	m.SetParam(graph.Param{Path: "b", Value: array.FromSlice([]float32{0.1, 0.2, 0.3, 0.4}, 4), Buffer: true})
	c := array.New(array.F32, 4, 4)
	for i := range array.Data[float32](c) {
		array.Data[float32](c)[i] = float32(i) / 8
	}
	m.SetParam(graph.Param{Path: "c", Value: c, Buffer: true})
	return m
}
