package xla_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/xlajax"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// breaking are graphs of x, 64 rows of 300 elements, which XLA may well compute otherwise.
var breaking = map[string]string{
	"softmax of a mask":     "%m = call_function[gt](%x) {other=100} : bool[64,300]\n  %f = call_function[cast](%m) {dtype=f32} : f32[64,300]\n  %n = call_function[mul](%f) {other=-1e9} : f32[64,300]\n  %a = call_function[add](%x, %n) : f32[64,300]\n  %r = call_function[softmax](%a) {dim=-1} : f32[64,300]",
	"log of softmax":        "%h = call_function[mul](%x) {other=0.25} : f32[64,300]\n  %s = call_function[softmax](%h) {dim=-1} : f32[64,300]\n  %r = call_function[log](%s) : f32[64,300]",
	"a mask of infinities":  "%i = call_function[full_like](%x) {value=-inf} : f32[64,300]\n  %m = call_function[gt](%x) {other=0} : bool[64,300]\n  %w = call_function[where](%m, %x, %i) : f32[64,300]\n  %r = call_function[logsumexp](%w) {dim=[1]} : f32[64]",
	"bytes of floats":       "%i = call_function[cast](%x) {dtype=i8} : i8[64,300]\n  %n = call_function[neg](%i) : i8[64,300]\n  %a = call_function[abs](%n) : i8[64,300]\n  %m = call_function[mul](%a, %n) : i8[64,300]\n  %r = call_function[floor_divide](%m, %i) : i8[64,300]",
	"unsigned of floats":    "%i = call_function[cast](%x) {dtype=u32} : u32[64,300]\n  %h = call_function[bitwise_left_shift](%i) {other=33} : u32[64,300]\n  %o = call_function[bitwise_or](%h, %i) : u32[64,300]\n  %r = call_function[cast](%o) {dtype=f32} : f32[64,300]",
	"greatest with NaN":     "%r = call_function[argmax](%x) {dim=[1]} : i64[64]",
	"halves that overflow":  "%h = call_function[cast](%x) {dtype=f16} : f16[64,300]\n  %s = call_function[sum](%h) {dim=[1]} : f16[64]\n  %r = call_function[cast](%s) {dtype=f32} : f32[64]",
	"roundings of bf16":     "%b = call_function[cast](%x) {dtype=bf16} : bf16[64,300]\n  %f = call_function[cast](%b) {dtype=f32} : f32[64,300]\n  %d = call_function[sub](%x, %f) : f32[64,300]\n  %r = call_function[ne](%d) {other=0} : bool[64,300]",
	"what is far from zero": "%c = call_function[clamp](%x) {min=-300, max=300} : f32[64,300]\n  %a = call_function[add](%c) {other=10000} : f32[64,300]\n  %r = call_function[layer_norm](%a) {normalized_shape=[300]} : f32[64,300]",
	"running products":      "%c = call_function[cumprod](%x) {dim=1} : f32[64,300]\n  %m = call_function[isnan](%c) : bool[64,300]\n  %r = call_function[all](%m) {dim=[1]} : bool[64]",
	"the order of NaN":      "%s = call_function[sort](%x) {dim=1, descending=true} : (f32[64,300], i64[64,300])\n  %r = call_function[getitem](%s) {index=1} : i64[64,300]",
	"rounded thirds":        "%a = call_function[div](%x) {other=3} : f32[64,300]\n  %b = call_function[mul](%a) {other=3} : f32[64,300]\n  %c = call_function[sub](%b, %x) : f32[64,300]\n  %r = call_function[eq](%c) {other=0} : bool[64,300]",
	"least and greatest":    "%a = call_function[amin](%x) {dim=[1]} : f32[64]\n  %b = call_function[amax](%x) {dim=[1]} : f32[64]\n  %r = call_function[sub](%b, %a) : f32[64]",
}

// TestXLAIsNotBroken compares them, of normal numbers and of special ones.
func TestXLAIsNotBroken(t *testing.T) {
	x := xlajax.Start(t)
	r := &real{t: t}
	in := array.New(array.F32, 64, 300)
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 3e38, -3e38, 300, -128, 127.5, 65504, 65520, 4294967295, -1, 0.1}
	for k := range in.Len() {
		array.SetFloat64At(in, k, 40*math.Sin(float64(k*k)))
		if row := k / 300; row < 2*len(special) && k%300 == 7*row {
			array.SetFloat64At(in, k, special[row%len(special)])
		}
	}
	for name, body := range breaking {
		m := parsedModule(t, "graph g(%x: f32[64,300]) {\n  "+body+"\n  return %r\n}\n")
		p, err := xla.Emit(m, lowering.Options{})
		require.NoError(t, err, name)
		want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, []*array.Array{in})
		require.NoError(t, err, name)
		r.add(p, realRun{name, []*array.Array{in}, func(got []*array.Array) string { return fxtest.CloseWide(m.Graph, want, got) }})
	}
	require.Equal(t, len(breaking), r.check(x))
}
