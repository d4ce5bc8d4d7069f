package oracle_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/op/std"
)

func one(v ...float32) []*array.Array { return []*array.Array{array.FromSlice(v)} }

func call(o *op.Op, attrs any, in ...*array.Array) oracle.Call {
	return oracle.Call{Op: o, Key: o.Name + "/0", Sample: op.Sample{Attrs: attrs, In: in}}
}

// Every way to differ is found, and every way to agree.
func TestJudge(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	refused := oracle.Result{Err: diag.New(op.BadAttr, "no")}
	c := call(std.Add, std.AddAttrs{}, one(1)[0], one(2)[0])
	sum := call(std.Sum, std.ReduceAttrs{}, one(1e8, 1, -1e8)[0])
	product := call(std.Matmul, op.None{}, one(1e8, 1, -1e8)[0], one(1, 1, 1)[0])
	for _, x := range []struct {
		name   string
		c      oracle.Call
		r      oracle.Result
		g      oracle.Golden
		differ string
	}{
		{"same", c, oracle.Result{Out: one(3, nan, inf)}, oracle.Golden{Results: one(3, nan, inf)}, ""},
		{"close", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(3.00001)}, ""},
		{"value", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(3.1)}, "element 0 is 3"},
		{"NaN for a number", c, oracle.Result{Out: one(nan)}, oracle.Golden{Results: one(3)}, "element 0 is NaN"},
		{"number for NaN", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(nan)}, "PyTorch has NaN"},
		{"sign of infinity", c, oracle.Result{Out: one(inf)}, oracle.Golden{Results: one(-inf)}, "PyTorch has -Inf"},
		{"number for infinity", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(inf)}, "PyTorch has +Inf"},
		{"infinity for a number", c, oracle.Result{Out: one(inf)}, oracle.Golden{Results: one(3)}, "element 0 is +Inf"},
		{"shape", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(3, 3)}, "f32[1], PyTorch has f32[2]"},
		{"type", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: []*array.Array{array.New(array.F64, 1)}}, "PyTorch has f64[1]"},
		{"integers", c, oracle.Result{Out: []*array.Array{array.FromSlice([]int64{1 << 53})}},
			oracle.Golden{Results: []*array.Array{array.FromSlice([]int64{1<<53 + 1})}}, "PyTorch has"},
		{"count", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: append(one(3), one(3)...)}, "1 results, PyTorch has 2"},
		{"nearer to exact", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(3.1), Exact: one(3)}, ""},
		{"nothing of an overflow", c, oracle.Result{Out: one(7)}, oracle.Golden{Results: one(inf), Exact: one(3)}, "exactly 3"},
		{"exact for an overflow", c, oracle.Result{Out: one(3)}, oracle.Golden{Results: one(inf), Exact: one(3)}, ""},
		{"farther from exact", c, oracle.Result{Out: one(3.5)}, oracle.Golden{Results: one(3.1), Exact: one(3)}, "exactly 3"},
		{"terms that cancel", sum, oracle.Result{Out: one(8)}, oracle.Golden{Results: one(0), Scale: one(2e8)}, ""},
		{"more than that", sum, oracle.Result{Out: one(1e5)}, oracle.Golden{Results: one(0), Scale: one(2e8)}, "element 0 is 100000"},
		{"partial sums that overflow", sum, oracle.Result{Out: one(nan)}, oracle.Golden{Results: one(1e38), Scale: one(2e38)}, ""},
		{"none that do", sum, oracle.Result{Out: one(nan)}, oracle.Golden{Results: one(1e33), Scale: one(2e33)}, "element 0 is NaN"},
		{"numbers that do not", sum, oracle.Result{Out: one(2e38)}, oracle.Golden{Results: one(1e38), Scale: one(2e38)}, "element 0 is"},
		{"no terms to cancel", c, oracle.Result{Out: one(8)}, oracle.Golden{Results: one(0), Scale: one(2e8)}, "element 0 is 8"},
		{"what a rounding of the operands does", product, oracle.Result{Out: one(9)}, oracle.Golden{Results: one(0), Exact: one(1)}, ""},
		{"more than it does", product, oracle.Result{Out: one(900)}, oracle.Golden{Results: one(0), Exact: one(1)}, "exactly 1"},
		{"both refuse", c, refused, oracle.Golden{Outcome: oracle.Refused}, ""},
		{"we refuse", c, refused, oracle.Golden{Results: one(3)}, "refused: "},
		{"PyTorch refuses", c, oracle.Result{Out: one(3)}, oracle.Golden{Outcome: oracle.Refused, Text: "why"}, "PyTorch refuses: why"},
		{"undefined", c, oracle.Result{Out: one(3)}, oracle.Golden{Outcome: oracle.Undefined, Text: "why"}, "undefined in PyTorch: why"},
		{"a form of ours", c, oracle.Result{Out: one(3)}, oracle.Golden{Outcome: oracle.Noted, Results: one(3), Text: "why"}, "PyTorch refuses: why"},
		{"a wrong form of ours", c, oracle.Result{Out: one(3)}, oracle.Golden{Outcome: oracle.Noted, Results: one(4)}, "element 0 is 3"},
		{"cannot be asked", c, oracle.Result{Out: one(3)}, oracle.Golden{Outcome: oracle.Lacks}, ""},
		{"panic", c, oracle.Result{Panic: "index"}, oracle.Golden{Outcome: oracle.Lacks}, "panics: index"},
	} {
		got, excuses := oracle.Judge(x.c, x.r, x.g)
		require.Empty(t, excuses, x.name)
		if x.differ == "" {
			require.Empty(t, got, x.name)
		} else {
			require.Contains(t, got, x.differ, x.name)
		}
	}
}

// A difference excuses the calls that it names, of its kind, and no others.
func TestExcuses(t *testing.T) {
	ints := func(v ...int64) *array.Array { return array.FromSlice(v) }
	refuses := oracle.Golden{Outcome: oracle.Refused, Text: "ZeroDivisionError"}
	zero := call(std.Fmod, std.ReversibleAttrs{}, ints(5), ints(0))
	r := oracle.Eval(zero)
	require.NoError(t, r.Err)
	difference, excuses := oracle.Judge(zero, r, refuses)
	require.NotEmpty(t, difference)
	require.Len(t, excuses, 1)
	_, excuses = oracle.Judge(zero, r, oracle.Golden{Results: []*array.Array{ints(7)}})
	require.Empty(t, excuses, "another result is not what the record names")
	_, excuses = oracle.Judge(zero, oracle.Result{Panic: "index"}, refuses)
	require.Empty(t, excuses, "nothing excuses a panic")
	other := call(std.Fmod, std.ReversibleAttrs{}, ints(5), ints(3))
	difference, excuses = oracle.Judge(other, oracle.Eval(other), refuses)
	require.NotEmpty(t, difference)
	require.Empty(t, excuses)
}

// Fresh calls are the same for a seed and others for another, nearly all distinct,
// of many types, sizes and layouts.
func TestFreshCalls(t *testing.T) {
	types, sizes, layouts, absent, refused := map[array.DType]bool{}, map[int]bool{}, 0, 0, 0
	for _, o := range api.Ops() {
		a, b, c := oracle.Fresh(o, 7, 4), oracle.Fresh(o, 7, 4), oracle.Fresh(o, 8, 4)
		require.Equal(t, prints(a), prints(b), o.Name)
		require.NotEqual(t, prints(a), prints(c), o.Name)
		computed := 0
		for _, c := range a {
			r := oracle.Eval(c)
			require.Empty(t, r.Panic, "%s", c)
			if r.Err == nil {
				computed++
			} else {
				refused++
			}
			for _, x := range c.In {
				if x == nil {
					absent++
					continue
				}
				types[x.DType()] = true
				for _, n := range x.Shape() {
					sizes[n] = true
				}
				if !x.IsContiguous() {
					layouts++
				}
			}
		}
		require.Equal(t, 4, computed, o.Name)
	}
	require.GreaterOrEqual(t, len(types), 10)
	require.GreaterOrEqual(t, len(sizes), 15)
	require.Greater(t, layouts, 100)
	require.Positive(t, absent)
	require.Greater(t, refused, 50)
}

func prints(calls []oracle.Call) (out []string) {
	for _, c := range calls {
		out = append(out, oracle.Fingerprint(c.Op, c.Sample))
	}
	return out
}
