package conform

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// input is an array of a type with numbers for sizes.
type input struct {
	of   array.DType
	dims []int
}

func f32(dims ...int) input { return input{array.F32, dims} }

// unfit are graphs, inputs that do not fit, and all that every engine says of them.
var unfit = []struct {
	name, text string
	in         []input
	want       []string
}{
	{"element type", `graph g(%x: f32[N,3]) {
  %y = call_function[neg](%x)
  return %y
}`, []input{{array.F64, []int{2, 3}}}, []string{`input "x" is f64[2,3], expected f32[N,3]`}},
	{"rank", `graph g(%x: f32[N,3]) {
  %y = call_function[neg](%x)
  return %y
}`, []input{f32(3)}, []string{`input "x" is f32[3], expected f32[N,3]`}},
	{"all types", `graph g(%x: f32[N,3], %y: f32[N]) {
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(2, 4), {array.I64, []int{2}}}, []string{`input "x" is f32[2,4], expected f32[N,3]`, `input "y" is i64[2], expected f32[N]`}},
	{"type before guard", `graph g(%x: f32[N,C], %y: f32[N,3]) {
  %a = call_function[glu](%x) {dim=1}
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(2, 7), f32(2, 4)}, []string{`input "y" is f32[2,4], expected f32[N,3]`}},
	{"square", `graph g(%x: f32[N,N]) {
  %y = call_function[neg](%x)
  return %y
}`, []input{f32(2, 3)}, []string{`input "x" is f32[2,3], dimension 1 is expected to be N, which is 2 here`}},
	{"letters", `graph g(%x: f32[N,N], %y: f32[2*N]) {
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(2, 3), f32(5)}, []string{`input "x" is f32[2,3], dimension 1 is expected to be N, which is 2 here`,
		`input "y" is f32[5], dimension 0 is expected to be 2*N, which is 4 here`}},
	{"defined later", `graph g(%x: f32[N], %y: f32[N]) {
  symbol N = dim(%y, 0)
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(3), f32(2)}, []string{`input "x" is f32[3], dimension 0 is expected to be N, which is 2 here`}},
	{"operator", `graph g(%x: f32[N,C]) {
  %y = call_function[glu](%x) {dim=1}
  return %y
}`, []input{f32(2, 7)}, []string{`input "x" is f32[2,7]: glu needs C (axis 1, here 7) divisible by 2`}},
	{"operators", `graph g(%x: f32[N,C], %y: f32[N,3,H,W]) {
  %a = call_function[glu](%x) {dim=1}
  %b = call_function[max_pool2d](%y) {kernel_size=[3]}
  return (%a, %b)
}`, []input{f32(2, 7), f32(1, 3, 5, 2)}, []string{`input "x" is f32[2,7]: glu needs C (axis 1, here 7) divisible by 2`,
		`input "y" is f32[1,3,5,2]: max_pool2d needs W (axis 3, here 2) at least 3`}},
	{"equality", `graph g(%x: f32[N,4], %y: f32[M,4]) {
  %z = call_function[add](%x, %y)
  return %z
}`, []input{f32(2, 4), f32(3, 4)}, []string{`input "x" is f32[2,4]: add needs N (axis 0, here 2) equal to axis 0 of "y" (here 3)`}},
	{"guard before letter", `graph g(%x: f32[N], %y: f32[N]) {
  guard N % 4 == 0
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(3), f32(2)}, []string{`input "x" is f32[3]: the graph needs N (axis 0, here 3) divisible by 4`}},
	{"guards", `graph g(%x: f32[N], %y: f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard N != 1
  guard M//2 != N
  guard M <= 4
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(1), f32(5)}, []string{`input "x" is f32[1]: the graph needs N (axis 0, here 1) other than 1`,
		`input "y" is f32[5]: the graph needs M (axis 0, here 5) at most 4`}},
	{"expression", `graph g(%x: f32[N], %y: f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard M//2 != N
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(2), f32(5)}, []string{`input "y" is f32[5]: the graph needs M//2 (here 2) other than N (axis 0 of "x", here 2), where M is axis 0, here 5`}},
	{"names", `graph g(%x "image": f32[N,3], %y "größe": f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard M >= N
  %a = call_function[neg](%x)
  %b = call_function[neg](%y)
  return (%a, %b)
}`, []input{f32(5, 3), f32(2)}, []string{`input "größe" is f32[2]: the graph needs M (axis 0, here 2) at least N (axis 0 of "image", here 5)`}},
	{"equality and bound", `graph g(%x: f32[N,4], %y: f32[M,4]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard M >= 5
  %z = call_function[add](%x, %y)
  return %z
}`, []input{f32(3, 4), f32(3, 4)}, []string{`input "y" is f32[3,4]: the graph needs M (axis 0, here 3) at least 5`}},
}

func (i input) array() *array.Array { return array.New(i.of, i.dims...) }

// words returns the messages of an error.
func words(t *testing.T, err error) (list []string) {
	t.Helper()
	var all diag.List
	all.Add(err)
	for _, e := range all {
		require.Equal(t, diag.Code("FX1022"), e.Code)
		list = append(list, e.Msg)
	}
	return list
}

// TestEnginesRefuseAlike: what one engine refuses all refuse, with one code, in the same words and in
// full: interpreter, plan of the CPU, the entry of the other targets, and generated code of both styles.
func TestEnginesRefuseAlike(t *testing.T) {
	p := newProgram(t)
	for i, c := range unfit {
		t.Run(c.name, func(t *testing.T) {
			m, err := graph.Parse([]byte("gofx 1\n"+c.text), "in.fx")
			require.NoError(t, err)
			var in []*array.Array
			var tensors []*tensor.Tensor
			for _, x := range c.in {
				in = append(in, x.array())
				tensors = append(tensors, tensor.New(in[len(in)-1]))
			}
			_, err = fx.NewGraphModule(m).Run(ctx, tensors...)
			require.Equal(t, c.want, words(t, err), "interpreter")
			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			_, err = e.Run(ctx, in)
			require.Equal(t, c.want, words(t, err), "plan")
			ready, err := lowering.Prepare(m, lowering.Options{})
			require.NoError(t, err)
			_, err = lowering.NewEntry(ready.Graph).Check(lowering.Hosts(in))
			require.Equal(t, c.want, words(t, err), "entry")
			for _, style := range styles {
				pkg := strings.ToLower(style.engine) + strconv.Itoa(i)
				files, err := style.generate(m, pkg)
				require.NoError(t, err, style.engine)
				p.add(pkg, files, in)
			}
		})
	}
	said := p.refusals()
	for i, c := range unfit {
		for _, style := range styles {
			pkg := strings.ToLower(style.engine) + strconv.Itoa(i)
			if style.engine == Module { // code that panics says one thing
				require.Equal(t, c.want[:1], messages(said[pkg+"/0/"]), "%s, module style", c.name)
				continue
			}
			require.Equal(t, c.want, messages(said[pkg+"/0/"]), "%s, kernel style", c.name)
		}
	}
}

// messages takes the messages out of printed errors.
func messages(text string) (list []string) {
	for _, line := range strings.Split(text, "\n") {
		if msg, _, ok := strings.Cut(line, " [FX1022]"); ok {
			if i := strings.Index(msg, `input "`); i >= 0 {
				list = append(list, msg[i:])
			}
		}
	}
	return list
}
