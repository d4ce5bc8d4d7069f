package graph_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// allocated returns the bytes that reading a text allocates.
func allocated(src string) (uint64, *graph.Module, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := graph.Parse([]byte(src), "t.fx")
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, m, err
}

// bounded requires what docs/ir.md promises.
func bounded(t *testing.T, name, src string) (*graph.Module, error) {
	t.Helper()
	bytes, m, err := allocated(src)
	require.LessOrEqual(t, bytes, uint64(256*len(src)+2<<20), "%s: %d bytes of text, %v", name, len(src), err)
	if err != nil {
		require.Less(t, len(err.Error()), 1<<18, name)
		require.NotErrorIs(t, err, diag.Internal, name)
	}
	return m, err
}

func repeated(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

func net(inputs, lines string) string {
	return "gofx 1\ngraph g(" + inputs + ") {\n" + lines + "  return\n}\n"
}

// factors is a product of k sums, which has 2^k terms.
func factors(k int) string {
	parts := make([]string, k)
	for i := range parts {
		parts[i] = fmt.Sprintf("(A%d+B%d)", i, i)
	}
	return strings.Join(parts, "*")
}

func TestTextsThatAskForMuch(t *testing.T) {
	each := func(n int, call string) string {
		return repeated(n, func(i int) string { return "%y" + strconv.Itoa(i) + "=" + call + "\n" })
	}
	nested := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	const two = "region(%a: f32[2], %p: bool[]) {\nreturn (%a, %a)\n}\n"
	double := "region(%a: f32[2], %p: bool[]) {\n%c=call_function[cond](%p,%a,%p){\n"
	doubled := "}\nreturn (%c, %c)\n}\n"
	for name, src := range map[string]string{
		"chunks":               net("%x: f32[65536]", each(100, "call_function[chunk](%x){chunks=65536}")),
		"chunks of unknown":    net("%x: ?", each(100, "call_function[chunk](%x){chunks=65536}")),
		"unbind":               net("%x: f32[65536]", each(100, "call_function[unbind](%x){count=65536}")),
		"unbind of another":    net("%x: f32[2]", each(90, "call_function[unbind](%x){count=65536}")),
		"chunks of many dims":  net("%x: f32[1024"+strings.Repeat(",1", 1000)+"]", each(50, "call_function[chunk](%x){chunks=1024}")),
		"modules":              net("%x: f32[65536]", each(100, "call_module[m](%x)")) + "module m = chunk {chunks=65536} ()\n",
		"methods":              net("%x: f32[65536]", each(100, "call_method[chunk](%x){chunks=65536}")),
		"split":                net("%x: f32[999]", each(100, "call_function[split](%x){sizes=["+strings.Repeat("1,", 998)+"1]}")),
		"written tuples":       net("%x: f32[2]", each(100, "call_function[nonzero](%x) : (("+strings.Repeat("?,", 300)+"?))")),
		"many dims":            net("%x: f32["+strings.Repeat("1,", 9000)+"1]", each(2000, "call_function[neg](%x)")),
		"many dims, changed":   net("%x: f32["+strings.Repeat("1,", 9000)+"1]", each(2000, "call_function[unsqueeze](%x)")),
		"expressions":          net("%x: f32[N,3]", each(200, "call_function[slice](%x){start="+factors(6)+"}")),
		"expressions in lists": net("%x: f32[N,3]", each(200, "call_function[reshape](%x){shape=["+factors(5)+",-1]}")),
		"expressions in types": net("%x: f32[N,3]", each(500, "call_function[neg](%x) : f32["+factors(7)+",3]")),
		"products of inputs":   net("%x: f32[(A+B),(C+D),(E+F),(G+H),(I+J),(K+L),(M+N)]", each(500, "call_function[flatten](%x)")),
		"growing products":     net("%x: f32[A+B,C+D,E+F,G+H,I+J]", each(500, "call_function[reshape](%x){shape=[-1]}")),
		"guards":               net("%x: f32[N]", repeated(500, func(i int) string { return "guard " + factors(6) + " == N" + strconv.Itoa(i) + "\n" })),
		"divisions":            net("%x: f32[N]", each(300, "call_function[slice](%x){start="+nested("(", "N", "-1)//2", 40)+"}")),
		"symbols":              net("%x: f32[N]", repeated(3000, func(i int) string { return "symbol S" + strconv.Itoa(i) + "=dim(%x,0)\n" })),
		"regions":              net("%p: bool[]", "%c=call_function[cond](%p){\n"+strings.Repeat("region(){\n}\n", 20000)+"}\n"),
		"calls with regions":   net("%p: bool[]", each(4000, "call_function[cond](%p){\nregion(){\nreturn\n}\nregion(){\nreturn\n}\n}")),
		"doubled tuples":       net("%x: f32[2], %p: bool[]", "%c=call_function[cond](%p,%x,%p){\n"+nested(double+two, two+two, doubled, 40)+"}\n"),
		"scopes":               net("%x: f32[2]", repeated(3000, func(i int) string { return fmt.Sprintf("%%y%d=get_attr[w] in \"s%d\"\n", i, i) })),
		"positions":            net("%x: f32[2]", repeated(3000, func(i int) string { return fmt.Sprintf("%%y%d=get_attr[w] at \"s%d:1\"\n", i, i) })),
		"constants":            net("%x: f32[2]", repeated(3000, func(i int) string { return fmt.Sprintf("%%y%d=call_function[add](%%x){other=%d.5}\n", i, i) })),
		"lists":                net("%x: f32[2]", each(20, "call_function[sum](%x){dim=["+strings.Repeat("0,", 20000)+"0]}")),
		"strings":              net("%x: f32[2]", each(20, "call_function[einsum](%x){equation=\""+strings.Repeat("a", 20000)+"\"}")),
		"einsum":               net("%x: f32["+strings.Repeat("1,", 51)+"1]", each(200, "call_function[einsum](%x,%x){equation=\"...,...->...\"}")),
		"operands":             net("%x: f32[2]", each(10, "call_function[cat](%x"+strings.Repeat(",%x", 5000)+")")),
		"defaults":             net(repeated(2000, func(i int) string { return fmt.Sprintf("%%x%d: f32[0]=array f32[0]\"\",", i) })+"%x: f32[2]", ""),
		"names":                net("%x: f32[2]", repeated(2000, func(i int) string { return fmt.Sprintf("%%y_%d=get_attr[w]\n", 1<<31-1-i) })),
		"params":               "gofx 1\n" + repeated(3000, func(i int) string { return fmt.Sprintf("param p%d: f32[]\n", i) }),
		"leaves":               "gofx 1\n" + repeated(3000, func(i int) string { return fmt.Sprintf("module p%d=relu()\n", i) }),
		"results":              "gofx 1\ngraph g(%x: f32[2]) {\nreturn (%x" + strings.Repeat(",%x", 20000) + ")\n}\n",
		"rnn":                  net("%x: f32[5,2,3], %w: f32[16,3]", each(500, "call_function[lstm](%x,%w,%w){num_layers=1000000}")),
		"huge sizes":           net("%x: f32[9223372036854775807,9223372036854775807]", each(200, "call_function[flatten](%x)")),
		"repeat":               net("%x: f32[2]", each(200, "call_function[repeat](%x){repeats=["+strings.Repeat("1,", 60)+"9]}")),
	} {
		t.Run(name, func(t *testing.T) { _, _ = bounded(t, name, src) })
	}
	m, err := bounded(t, "few", net("%x: f32[64]", each(4, "call_function[chunk](%x){chunks=64}")))
	require.NoError(t, err)
	require.Equal(t, 64, m.Graph.Find("y3").Type().Len())
	_, err = graph.Parse([]byte(net("%x: f32[65536]", each(100, "call_function[chunk](%x){chunks=65536}"))), "t.fx")
	require.ErrorIs(t, err, graph.TextLimit)
	require.Len(t, err.(diag.List), 1)
}

// TestEveryAttributeIsBounded gives every attribute of every operator large values.
func TestEveryAttributeIsBounded(t *testing.T) {
	for _, o := range op.All() {
		samples := o.Samples()
		if o.Path != "" || len(samples) == 0 || len(o.Codec().Fields(o.Codec().Zero())) == 0 {
			continue
		}
		var inputs, args []string
		for i, a := range samples[0].In {
			if a == nil {
				args = append(args, "_")
				continue
			}
			args = append(args, "%x"+strconv.Itoa(i))
			inputs = append(inputs, args[i]+": "+shape.TypeOf(a).String())
		}
		for _, f := range o.Codec().Fields(o.Codec().Zero()) {
			for _, v := range []string{"65536", "1000000000", "9223372036854775807", "-65536", "[65536,65536]", factors(5), "[" + factors(4) + "]"} {
				call := "=call_function[" + o.Key() + "](" + strings.Join(args, ",") + "){" + f.Name + "=" + v + "}\n"
				src := net(strings.Join(inputs, ", "), repeated(30, func(i int) string { return "%y" + strconv.Itoa(i) + call }))
				_, _ = bounded(t, o.Name+" "+f.Name+"="+v, src)
			}
		}
	}
}

// TestPrintedGraphsAreWithinTheBudget reads what Print writes of a network whose
// sizes are long expressions: the budget is for what nobody prints.
func TestPrintedGraphsAreWithinTheBudget(t *testing.T) {
	var b strings.Builder
	h, w := "H", "W"
	k := 0
	for level := range 6 {
		for i := range 60 {
			stride := ""
			if level > 0 && i == 0 {
				stride = ", stride=[2,2]"
				h, w = "("+h+"-1)//2+1", "("+w+"-1)//2+1"
			}
			fmt.Fprintf(&b, "%%y%d = call_function[conv2d](%%y%d, %%w) {padding=[1,1]%s}\n", k+1, k, stride)
			k++
		}
		fmt.Fprintf(&b, "%%z%d = call_function[flatten](%%y%d) {start_dim=2, end_dim=3}\n", level, k)
		fmt.Fprintf(&b, "%%q%d = call_function[chunk](%%y%d) {chunks=8, dim=1}\n", level, k)
	}
	m, err := bounded(t, "written by hand", net("%y0: f32[N,8,H,W], %w: f32[8,8,3,3]", b.String()))
	require.NoError(t, err)
	text := graph.Print(m, graph.PrintOptions{})
	again, err := bounded(t, "printed", text)
	require.NoError(t, err)
	require.Equal(t, text, graph.Print(again, graph.PrintOptions{}))
}
