package cpu_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
)

// intoText returns a graph of inputs a, b [4] and c [4,4] with a body in short form.
func intoText(body string) string {
	var b strings.Builder
	b.WriteString("graph net(%a: f32[4], %b: f32[4], %c: f32[4,4], %i: i64[2]) {\n")
	for _, line := range strings.Split(body, "\n") {
		if name, call, ok := strings.Cut(line, " = "); ok {
			line = name + " = call_function[" + strings.Replace(call, "(", "](", 1)
		}
		b.WriteString("  " + line + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// TestInto compares results that are made in inputs with the interpreter's, and counts the copies of the
// plan: none where all reads are done when the result is computed.
func TestInto(t *testing.T) {
	both := []lowering.Into{{Result: 0, Input: 0}, {Result: 1, Input: 1}}
	for _, c := range []struct {
		name, body string
		into       []lowering.Into
		copies     int
	}{
		{"an update", "%n = add(%a, %b)\nreturn %n", both[:1], 0},
		{"what does not read the input", "%n = exp(%b)\nreturn %n", both[:1], 0},
		{"a reduction", "%n = sum(%c) {dim=[0]}\nreturn %n", both[:1], 0},
		{"a product of the input", "%n = matmul(%c, %c)\nreturn %n", []lowering.Into{{Input: 2}}, 1},
		{"another result reads the new value", "%n = add(%a, %b)\n%s = softmax(%n) {dim=0}\nreturn (%n, %s)", both[:1], 0},
		{"another result reads the old value", "%n = add(%a, %b)\n%s = softmax(%n) {dim=0}\n%o = cumsum(%a) {dim=0}\n%p = add(%s, %o)\nreturn (%n, %p)", both[:1], 1},
		{"the input is a result, too", "%n = add(%a, %b)\nreturn (%n, %a)", both[:1], 1},
		{"a view of it is", "%n = add(%a, %b)\n%v = reshape(%a) {shape=[2,2]}\nreturn (%n, %v)", both[:1], 1},
		{"the input itself", "return %a", both[:1], 0},
		{"the input turned", "%t = transpose(%c) {dim0=0, dim1=1}\nreturn %t", []lowering.Into{{Input: 2}}, 1},
		{"another input", "return %b", both[:1], 1},
		{"two inputs exchanged", "return (%b, %a)", both, 2},
		{"two updates", "%n = add(%a, %b)\n%s = sum(%n)\n%m = mul(%b, %s)\nreturn (%n, %m)", both, 0},
		{"one whose step cannot write over its operand", "%n = add(%a, %b)\n%m = mul(%n, %b)\n%k = softmax(%m) {dim=0}\nreturn (%n, %k)", both, 1},
		{"two that read each other", "%n = softmax(%b) {dim=0}\n%m = softmax(%a) {dim=0}\nreturn (%n, %m)", both, 1},
		{"one value twice", "%n = add(%a, %b)\nreturn (%n, %n)", both, 1},
		{"one value, of which a result has its own memory", "%n = add(%a, %b)\nreturn (%n, %n)", both[:1], 1},
		{"a view of the new value", "%n = softmax(%a) {dim=0}\n%v = reshape(%n) {shape=[2,2]}\nreturn (%n, %v)", both[:1], 1},
		{"a step that may fail comes after", "%n = add(%a, %b)\n%s = softmax(%n) {dim=0}\n%g = index_select(%s, %i) {dim=0}\nreturn (%n, %g)", both[:1], 1},
		{"a step that may fail comes before", "%g = index_select(%b, %i) {dim=0}\n%s = sum(%g)\n%n = add(%a, %s)\nreturn %n", both[:1], 0},
		{"the last result alone", "%n = add(%a, %b)\n%m = exp(%n)\n%k = softmax(%m) {dim=0}\nreturn (%m, %k)", []lowering.Into{{Result: 1}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := module(t, intoText(c.body))
			fresh := func() []*array.Array {
				a := array.FromSlice([]float32{1, 2, 3, 5}, 4)
				return []*array.Array{a, array.FromSlice([]float32{-1, .5, 0, 2}, 4), array.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 8}, 4, 4), array.FromSlice([]int64{1, 3}, 2)}
			}
			want := interpret(t, m, fresh()...)
			e := compile(t, m, lowering.Options{Into: c.into, Exact: true})
			require.Equal(t, c.copies, copiesInto(e.Plan()), e.Plan().String())
			for range 2 {
				in := fresh()
				given, version := in[c.into[0].Input], in[c.into[0].Input].Storage().Version()
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				same(t, want, got)
				require.Same(t, given, got[c.into[0].Result])
				require.Greater(t, given.Storage().Version(), version, "what is computed of it is computed again")
				untouched(t, c.into, fresh(), in)

				in = fresh()
				require.NoError(t, e.RunInto(ctx, outputsFor(want, in, c.into), in))
				for _, p := range c.into {
					require.Empty(t, fxtest.SameArray(want[p.Result], in[p.Input]))
				}
			}
		})
	}
}

// outputsFor returns arrays like results, those of inputs where results are made there.
func outputsFor(want, in []*array.Array, into []lowering.Into) []*array.Array {
	var out []*array.Array
	for _, a := range want {
		out = append(out, array.New(a.DType(), a.Shape()...))
	}
	for _, p := range into {
		out[p.Result] = in[p.Input]
	}
	return out
}

// untouched demands that all inputs except those that become results have what they had.
func untouched(t require.TestingT, into []lowering.Into, was, in []*array.Array) {
	for i := range in {
		taken := false
		for _, p := range into {
			taken = taken || p.Input == i
		}
		if !taken {
			require.Empty(t, fxtest.SameArray(was[i], in[i]), "input %d", i)
		}
	}
}

// TestIntoOfRandomGraphs makes results of random graphs, full of views, in inputs of their type.
func TestIntoOfRandomGraphs(t *testing.T) {
	made := 0
	rapid.Check(t, func(r *rapid.T) {
		m := randomGraph(r)
		var into []lowering.Into
		taken := map[int]bool{}
		for i, a := range m.Graph.Output().Args() {
			for k, x := range m.Graph.Inputs() {
				if !taken[k] && a.Type().Same(x.Type()) && rapid.Bool().Draw(r, "into") {
					taken[k] = true
					into = append(into, lowering.Into{Result: i, Input: k})
					break
				}
			}
		}
		if len(into) == 0 {
			return
		}
		made++
		e, err := cpu.Compile(m, lowering.Options{Into: into, Exact: true, Threads: 1})
		require.NoError(r, err)
		for _, n := range []int{3, 1, 0} {
			var gen op.Gen
			was := []*array.Array{gen.Normal(n, 4, 6), gen.Normal(6, n)}
			in := []*array.Array{array.Clone(was[0]), array.Clone(was[1])}
			want := interpret(t, m, was...)
			got, err := e.Run(ctx, in)
			require.NoError(r, err)
			require.Empty(r, fxtest.SameArrays(want, got), e.Plan().String())
			for _, p := range into {
				require.Same(r, in[p.Input], got[p.Result])
			}
			untouched(r, into, was, in)
		}
	})
	require.Positive(t, made)
}

// TestIntoArraysThatDoNotFit gives inputs in which no result can be made. None of them is changed.
func TestIntoArraysThatDoNotFit(t *testing.T) {
	m := module(t, `
graph net(%x: f32[N,3], %y: f32[N,3]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[3,3]
  %p = call_function[matmul](%y, %w) : f32[N,3]
  %n = call_function[add](%x, %p) : f32[N,3]
  return %n
}
param w : f32[3,3]
`)
	e := compile(t, m, lowering.Options{Into: []lowering.Into{{}}})
	x, y := array.New(array.F32, 3, 3), array.New(array.F32, 3, 3)
	gaps := &array.Array{}
	gaps.SetLayout(array.New(array.F32, 3, 6), []int{3, 3}, []int{6, 1}, 0)
	w := m.Param("w").Value
	for want, in := range map[string][]*array.Array{
		"has gaps": {gaps, y}, "shares memory with another input or a weight": {y, y}, " or a weight": {w, y},
	} {
		was := array.Clone(in[0])
		_, err := e.Run(ctx, in)
		require.ErrorIs(t, err, lowering.BadOutput)
		require.ErrorContains(t, err, `the array of input "x", in which result 0 is made, `)
		require.ErrorContains(t, err, want)
		require.Empty(t, fxtest.SameArray(was, in[0]))
	}
	err := e.RunInto(ctx, []*array.Array{array.New(array.F32, 3, 3)}, []*array.Array{x, y})
	require.ErrorIs(t, err, lowering.BadOutput)
	require.ErrorContains(t, err, `the array for result 0 is not that of input "x", in which it is made`)
	_, err = e.Run(ctx, []*array.Array{x, y})
	require.NoError(t, err)

	_, err = cpu.Compile(m, lowering.Options{Into: []lowering.Into{{}}, Shapes: map[string]int{"N": 4}})
	require.NoError(t, err)
	_, err = cpu.Compile(module(t, "graph g(%x: f32[2,3]) {\n  %y = call_function[exp](%x) : f32[2,3]\n  %t = call_function[transpose](%y) {dim0=0, dim1=1} : f32[3,2]\n  return %t\n}\n"), lowering.Options{Into: []lowering.Into{{}}})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, `result 0 is f32[3,2], the input that it is to be made in, "x", is f32[2,3]`)
}

// TestIntoOfRunsThatFail leaves the inputs as they were: an index is out of range, and a context ends before
// each step.
func TestIntoOfRunsThatFail(t *testing.T) {
	m := module(t, intoText("%n = add(%a, %b)\n%s = softmax(%n) {dim=0}\n%g = index_select(%s, %i) {dim=0}\n%k = sum(%g)\n%m = sub(%b, %k)\nreturn (%n, %m)"))
	e := compile(t, m, lowering.Options{Into: []lowering.Into{{}, {Result: 1, Input: 1}}})
	fresh := func(i int64) []*array.Array {
		return []*array.Array{array.FromSlice([]float32{1, 2, 3, 5}, 4), array.FromSlice([]float32{-1, .5, 0, 2}, 4), array.New(array.F32, 4, 4), array.FromSlice([]int64{1, i}, 2)}
	}
	in := fresh(4)
	_, err := e.Run(ctx, in)
	require.Error(t, err)
	for i := range 2 {
		require.Empty(t, fxtest.SameArray(fresh(4)[i], in[i]))
	}
	want := interpret(t, m, fresh(3)...)
	stopped, whole := 0, 0
	for n := range 2*len(e.Plan().Steps) + 2 {
		in, left := fresh(3), n
		_, err := e.Run(fuse{ctx, &left, context.Canceled}, in)
		if err == nil {
			whole++
			for i := range 2 {
				require.Empty(t, fxtest.SameArray(want[i], in[i]))
			}
			continue
		}
		stopped++
		for i := range 2 {
			require.Empty(t, fxtest.SameArray(fresh(3)[i], in[i]), "both are as they were")
		}
	}
	require.Positive(t, stopped)
	require.Positive(t, whole)
}

// copiesInto counts the steps that copy a result to the input in which it is made.
func copiesInto(p *plan.Plan) (n int) {
	for i := range p.Steps {
		st := &p.Steps[i]
		if _, is := st.Kernel.(*kernel.Copy); is && p.Buffers[st.Out[0]].Updated {
			n++
		}
	}
	return n
}

// TestIntoNextToOtherThings makes results in inputs of plans for sizes that came again, of plans that write state,
// of loops, and next to donated inputs.
func TestIntoNextToOtherThings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    lowering.Options
	}{
		"sizes that come again": {`
graph net(%x: f32[N,1,4], %y: f32[N,2,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[softmax](%y) {dim=2} : f32[N,2,4]
  %c = call_function[cat](%x, %a) {dim=1} : f32[N,3,4]
  %s = call_function[softmax](%c) {dim=1} : f32[N,3,4]
  %m = call_function[sum](%s) {dim=[1], keep_dim=true} : f32[N,1,4]
  %n = call_function[add](%x, %m) : f32[N,1,4]
  return (%n, %s)
}
`, lowering.Options{Into: []lowering.Into{{}}}},
		"state": {`
graph net(%x: f32[N,1,4], %y: f32[N,2,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4]
  %n = call_function[add](%x, %w) : f32[N,1,4]
  %s = call_function[sum](%y) {dim=[0,1]} : f32[4]
  %v = call_function[add](%w, %s) : f32[4]
  %u = call_function[assign](%w, %v) : f32[4]
  return (%n, %u)
}
param w : f32[4] buffer
`, lowering.Options{Into: []lowering.Into{{}}}},
		"a loop": {`
graph net(%x: f32[2,1,4], %y: f32[2,2,4]) {
  %z = call_function[scan](%x, %y) {carry=1, seqs=1} : (f32[2,1,4]) {
    region body(%c: f32[2,1,4], %row: f32[2,4]) {
      %s = call_function[cumsum](%c) {dim=0} : f32[2,1,4]
      %k = call_function[sum](%row) : f32[]
      %n = call_function[mul](%s, %k) : f32[2,1,4]
      return (%n)
    }
  }
  %r = call_function[getitem](%z) {index=0} : f32[2,1,4]
  return %r
}
`, lowering.Options{Into: []lowering.Into{{}}}},
		"a donated input": {`
graph net(%x: f32[2,1,4], %y: f32[2,2,4]) {
  %e = call_function[exp](%y) : f32[2,2,4]
  %c = call_function[cumsum](%e) {dim=1} : f32[2,2,4]
  %s = call_function[sum](%c) {dim=[1], keep_dim=true} : f32[2,1,4]
  %n = call_function[mul](%x, %s) : f32[2,1,4]
  return %n
}
`, lowering.Options{Into: []lowering.Into{{}}, Donate: []int{0, 1}}},
	} {
		var g op.Gen
		m := module(t, c.text)
		o := c.o
		o.Exact = true
		e := compile(t, m, o)
		state := interp.NewState(m)
		x, y := g.Normal(2, 1, 4), g.Normal(2, 2, 4)
		for k := range 4 {
			p := interp.Interpreter{State: state}
			want, err := p.RunArrays(ctx, []*array.Array{array.Clone(x), array.Clone(y)})
			require.NoError(t, err, name)
			in := []*array.Array{array.Clone(x), array.Clone(y)}
			got, err := e.Run(ctx, in)
			require.NoError(t, err, name)
			require.Empty(t, fxtest.SameArrays(want, got), "%s, run %d", name, k)
			require.Same(t, in[0], got[0], name)
			x = array.Clone(got[0])
		}
		if name == "sizes that come again" {
			require.Equal(t, 1, e.Stats().Specialised)
		}
	}
}
