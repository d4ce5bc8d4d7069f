package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// TestContribIsWrittenOut compares operators that ONNX Runtime has for other processors
// only with the same in operators of ONNX.
func TestContribIsWrittenOut(t *testing.T) {
	const head = `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> `
	for _, c := range []struct {
		name, inputs, fused, plain string
		in                         []*array.Array
	}{
		{"BiasSplitGelu", `float[2,3,8] x, float[8] b`, `y = com.microsoft.BiasSplitGelu(x, b)`,
			`v = Add(x, b) l, r = Split<axis=-1>(v) g = com.microsoft.Gelu(r) y = Mul(l, g)`, []*array.Array{numbers(11, 2, 3, 8), numbers(5, 8)}},
		{"BiasAdd", `float[2,3,4] x, float[4] b, float[2,3,4] s`, `y = com.microsoft.BiasAdd(x, b, s)`,
			`v = Add(x, b) y = Add(v, s)`, []*array.Array{numbers(11, 2, 3, 4), numbers(5, 4), numbers(7, 2, 3, 4)}},
		{"FusedMatMulActivation", `float[2,3] x, float[4,3] w`, `y = com.microsoft.FusedMatMulActivation<transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.3>(x, w)`,
			`v = Transpose<perm=[1,0]>(w) p = MatMul(x, v) h = Constant<value_float=0.5>() q = Mul(p, h) y = LeakyRelu<alpha=0.3>(q)`, []*array.Array{signed(11, 2, 3), signed(5, 4, 3)}},
		{"NhwcConv", `float[1,5,5,2] x, float[3,3,3,2] w, float[3] b`, `y = com.microsoft.NhwcConv<pads=[1,1,0,0], strides=[2,2]>(x, w, b)`,
			`a = Transpose<perm=[0,3,1,2]>(x) k = Transpose<perm=[0,3,1,2]>(w) v = Conv<pads=[1,1,0,0], strides=[2,2]>(a, k, b) y = Transpose<perm=[0,2,3,1]>(v)`,
			[]*array.Array{numbers(11, 1, 5, 5, 2), numbers(5, 3, 3, 3, 2), numbers(3, 3)}},
		{"GroupNorm", `float[2,3,3,4] x, float[4] w, float[4] b`, `y = com.microsoft.GroupNorm<groups=2, activation=1>(x, w, b)`,
			`a = Transpose<perm=[0,3,1,2]>(x) d = Shape(a) n = Constant<value_ints=[0,2,-1]>() r = Reshape(a, n) one = Constant<value_floats=[1.0,1.0]>() zero = Constant<value_floats=[0.0,0.0]>()
			 i = InstanceNormalization(r, one, zero) q = Reshape(i, d) u = Constant<value_ints=[1,2]>() w1 = Unsqueeze(w, u) b1 = Unsqueeze(b, u) m = Mul(q, w1) s = Add(m, b1) g = Sigmoid(s) h = Mul(s, g) y = Transpose<perm=[0,2,3,1]>(h)`,
			[]*array.Array{numbers(11, 2, 3, 3, 4), numbers(5, 4), numbers(3, 4)}},
		{"SkipGroupNorm", `float[2,3,3,4] x, float[4] w, float[4] b, float[2,4] s, float[4] c`, `y, z = com.microsoft.SkipGroupNorm<groups=2, activation=0>(x, w, b, s, c)`,
			`u = Constant<value_ints=[1,2]>() s1 = Unsqueeze(s, u) t = Add(x, s1) z = Add(t, c) y = com.microsoft.GroupNorm<groups=2, activation=0>(z, w, b)`,
			[]*array.Array{numbers(11, 2, 3, 3, 4), numbers(5, 4), numbers(3, 4), numbers(7, 2, 4), numbers(2, 4)}},
		{"MultiHeadAttention of packed values", `float[2,3,2,3,2] x, float[12] b`, `y = com.microsoft.MultiHeadAttention<num_heads=2>(x, _, _, b)`,
			`a, c, e = Split<axis=3>(x) n = Constant<value_ints=[0,0,-1]>() q = Reshape(a, n) k = Reshape(c, n) v = Reshape(e, n) y = com.microsoft.MultiHeadAttention<num_heads=2>(q, k, v, b)`,
			[]*array.Array{signed(11, 2, 3, 2, 3, 2), signed(5, 12)}},
		{"MultiHeadAttention of packed keys", `float[2,3,4] x, float[2,5,2,2,2] w`, `y = com.microsoft.MultiHeadAttention<num_heads=2>(x, w)`,
			`a, c = Split<axis=3>(w) n = Constant<value_ints=[0,0,-1]>() k = Reshape(a, n) v = Reshape(c, n) y = com.microsoft.MultiHeadAttention<num_heads=2>(x, k, v)`,
			[]*array.Array{signed(11, 2, 3, 4), signed(5, 2, 5, 2, 2, 2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outs := "float y"
			if c.name == "SkipGroupNorm" {
				outs += ", float z"
			}
			got := runText(t, head+`g (`+c.inputs+`) => (`+outs+`) { `+c.fused+` }`, c.in...)
			want := runText(t, head+`g (`+c.inputs+`) => (`+outs+`) { `+c.plain+` }`, c.in...)
			for i := range want {
				require.NoError(t, compare(got[i], want[i]))
			}
		})
	}
}

// signed are small numbers of both signs.
func signed(n int, dims ...int) *array.Array {
	x := numbers(n, dims...)
	for i := range x.Len() {
		array.SetFloat64At(x, i, (array.Float64At(x, i)-float64(n)/2)/float64(n))
	}
	return x
}

// TestIntegersOfContrib are operators that ONNX Runtime has no code for.
func TestIntegersOfContrib(t *testing.T) {
	const head = `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> `
	a, b := array.FromSlice([]uint8{0, 12, 255}, 3), array.FromSlice([]uint8{1, 200, 250}, 3)
	y := runText(t, head+`g (uint8[3] a, uint8[3] b) => (int32 y) <uint8 z = {12}, uint8 w = {200}> { y = com.microsoft.MulInteger(a, z, b, w) }`, a, b)
	require.Equal(t, []int32{-12 * -199, 0, 243 * 50}, array.Data[int32](y[0]))
	y = runText(t, head+`g (uint8[2,3] a) => (int32 y) { y = com.microsoft.ReduceSumInteger<axes=[1], keepdims=0>(a) }`, array.FromSlice([]uint8{255, 255, 255, 1, 2, 3}, 2, 3))
	require.Equal(t, []int32{765, 6}, array.Data[int32](y[0]))
	y = runText(t, head+`g (uint8[2,3] a) => (uint8 y) <float s = {0.5}, uint8 z = {10}, float u = {0.25}, uint8 v = {3}> { y = com.microsoft.QLinearReduceMean<axes=[1]>(a, s, z, u, v) }`,
		array.FromSlice([]uint8{10, 12, 14, 20, 30, 40}, 2, 3))
	require.Equal(t, []uint8{3 + 4, 3 + 40}, array.Data[uint8](y[0]))
}

// TestContribRefuses lists the unsupported cases, with the reasons.
func TestContribRefuses(t *testing.T) {
	for _, c := range []struct{ graph, want string }{
		{`g (float[2,3,4] x, float[4] w) => (float y, float m) { y, m = com.microsoft.SkipLayerNormalization(x, x, w) }`, "output 1 is not supported"},
		{`g (float[2,40] x, uint8[3,2,16] w, float[6] s, int32[40] i) => (float y) { y = com.microsoft.MatMulNBits<K=40, N=3, bits=4, block_size=32>(x, w, s, _, i) }`, "g_idx is not supported [FX8103]"},
		{`g (float[2,40] x, uint8[3,2,8] w, float[6] s) => (float y) { y = com.microsoft.MatMulNBits<K=40, N=3, bits=4, block_size=32>(x, w, s) }`, "expected 96 elements [FX8104]"},
		{`g (float[2,40] x, uint8[3,2,16] w, float[6] s) => (float y) { y = com.microsoft.MatMulNBits<K=40, N=3, bits=3, block_size=32>(x, w, s) }`, "weights of 3 bits are not supported [FX8103]"},
		{`g (float[2,40] x, uint8[3,2,16] w, float[6] s) => (float y) { y = com.microsoft.MatMulNBits<K=4611686018427387904, N=4611686018427387904, bits=4, block_size=32>(x, w, s) }`, "a weight of 4611686018427387904 rows"},
		{`g (float[2,3,4] x, float[4,12] w, float[12] b) => (float y) { y = com.microsoft.Attention<num_heads=2, do_rotary=1>(x, w, b) }`, "do_rotary is not supported [FX8103]"},
		{`g (float[2,3,4] x, float[4,12] w, float[12] b) => (float y) { y = com.microsoft.Attention<num_heads=5>(x, w, b) }`, "size 4 is no multiple of 5"},
		{`g (float[2,3] x) => (float y) { y = com.microsoft.BeamSearch(x) }`, "write the loop in Go"},
		{`g (float[2,3] x) => (float y) { y = RandomNormalLike(x) }`, "make the numbers outside"},
		{`g (float[2,3] x) => (float y) { y = com.microsoft.FusedGemm<activation="Swoosh", transB=1>(x, x) }`, "activation \"Swoosh\" is not supported [FX8103]"},
		{`g (float[3,2,4] x, float[1,5,4] w, float[1,5,5] r) => (float y) { y = RNN<hidden_size=5, activations=["Affine"]>(x, w, r) }`, "activation Affine needs activation_alpha and activation_beta"},
		{`g (float[3,2,4] x, float[1,5,4] w, float[1,5,5] r) => (float y) { y = RNN<hidden_size=5, activations=["Tanh", "Tanh"]>(x, w, r) }`, "activations has the wrong number of entries"},
		{`g (float[3,2,4] x, float[1,19,4] w, float[1,20,5] r) => (float y) { y = LSTM<hidden_size=5>(x, w, r) }`, "input 1 is f32[1,19,4], expected"},
		{`g (float[3,2,4] x, float[1,20,4] w, float[1,20,5] r, float[1,16] p) => (float y) { y = LSTM<hidden_size=5>(x, w, r, _, _, _, _, p) }`, "input 7 is f32[1,16], expected"},
	} {
		_, err := fromText(`<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> ` + c.graph).Import(Options{})
		require.ErrorContains(t, err, c.want, c.graph)
	}
}

// TestRecurrentBatchFirst: a network with the batch first is that with the time first, and
// networks stand in bodies.
func TestRecurrentBatchFirst(t *testing.T) {
	const head = `<ir_version: 8, opset_import: ["" : 17]> `
	x, w, r, p := signed(11, 3, 2, 4), signed(7, 1, 20, 4), signed(5, 1, 20, 5), signed(3, 1, 15)
	l := array.FromSlice([]int32{3, 1}, 2)
	const attrs = `hidden_size=5, direction="reverse"`
	const inputs = `float[T,N,4] x, float[1,20,4] w, float[1,20,5] r, float[1,15] p, int32[N] l`
	want := runText(t, head+`g (`+inputs+`) => (float y, float h) { y, h, c = LSTM<`+attrs+`>(x, w, r, _, l, _, _, p) }`, x, w, r, p, l)
	got := runText(t, head+`g (`+inputs+`) => (float y, float h) { a = Transpose<perm=[1,0,2]>(x) b, d, c = LSTM<`+attrs+`, layout=1>(a, w, r, _, l, _, _, p)
		y = Transpose<perm=[1,2,0,3]>(b) h = Transpose<perm=[1,0,2]>(d) }`, x, w, r, p, l)
	for i := range want {
		require.NoError(t, compare(got[i], want[i]))
	}
	got = runText(t, head+`g (`+inputs+`, bool k) => (float y, float h) { y, h = If<then_branch = a () => (float y1, float h1) { y1, h1, c = LSTM<`+attrs+`>(x, w, r, _, l, _, _, p) },
		else_branch = b () => (float y2, float h2) { y2, h2, c = LSTM<`+attrs+`>(x, w, r) }>(k) }`, x, w, r, p, l, array.Scalar(true))
	for i := range want {
		require.NoError(t, compare(got[i], want[i]))
	}
}
