package quant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// sequence has an lstm in both directions and a gru after it, with a state.
const sequence = `graph net(%x: f32[T,N,6], %h: f32[1,N,5]) {
  %wi = get_attr[wi] : f32[16,6]
  %wh = get_attr[wh] : f32[16,4]
  %bi = get_attr[bi] : f32[16]
  %bh = get_attr[bh] : f32[16]
  %wr = get_attr[wr] : f32[16,4]
  %l = call_function[lstm](%x, _, _, %wi, %wh, %bi, %bh, %wi, %wr, %bi, %bh) {bidirectional=true}
  %y = call_function[getitem](%l) {index=0}
  %c = call_function[getitem](%l) {index=2}
  %ui = get_attr[ui] : f32[15,8]
  %uh = get_attr[uh] : f32[15,5]
  %g = call_function[gru](%y, %h, %ui, %uh) {no_bias=true}
  %z = call_function[getitem](%g) {index=0}
  return (%z, %c)
}
param wi : f32[16,6]
param wh : f32[16,4]
param bi : f32[16]
param bh : f32[16]
param wr : f32[16,4]
param ui : f32[15,8]
param uh : f32[15,5]
`

// TestRecurrentNetworks quantises an lstm and a gru in each mode: what stays is said,
// and every engine computes the same bits.
func TestRecurrentNetworks(t *testing.T) {
	in, err := passes.Inputs(quanttest.Parse(t, sequence).Graph, map[string]int{"T": 7, "N": 3}, 4)
	require.NoError(t, err)
	for _, c := range []struct {
		mode    quant.Mode
		granted string // in the plan
		dynamic int
	}{
		{quant.Dynamic, `%l +lstm +dynamic by global +dynamic\n%l +weight wi +any by global +i8 symmetric channel, min_max`, 1},
		{quant.Static, `%l +lstm +static by global +dynamic +Q12 no such mode: cpu has lstm dynamic and weight_only only`, 1},
		{quant.WeightOnly, `%g +gru +weight_only by global +weight_only\n%g +weight ui +any by global +i8 symmetric channel`, 0},
	} {
		m := quanttest.Parse(t, sequence)
		plain := graph.Clone(m)
		config := &quant.Config{Global: quant.Setting{Mode: c.mode}}
		p, err := quant.Resolve(m, config, cpu.QuantBackend())
		require.NoError(t, err)
		require.Regexp(t, c.granted, p.String())
		quanttest.Pipeline(t, m, quant.Convert(config, cpu.QuantBackend()), integer.Lower)
		require.Equal(t, c.dynamic, quanttest.Calls(m.Graph, std.QLstm))
		require.Equal(t, c.dynamic, quanttest.Calls(m.Graph, std.QGru))
		for _, path := range []string{"wi", "wh", "wr", "ui", "uh"} {
			require.Nil(t, m.Param(path), path)
			require.Equal(t, array.I8, m.Param(path+"_quantised").Value.DType())
		}
		want, got := quanttest.Interpret(t, plain, in...), quanttest.Interpret(t, m, in...)
		for i := range want {
			require.Greater(t, quanttest.SQNR(want[i], got[i]), 30.0, "%s, result %d", c.mode, i)
		}
		text := m.String()
		again, err := graph.Parse([]byte(text), "again.fx")
		require.NoError(t, err)
		require.Equal(t, text, again.String())
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		planned, err := e.Run(ctx, in)
		require.NoError(t, err)
		for i := range got {
			require.Equal(t, array.Bytes(got[i]), array.Bytes(planned[i]), "%s, result %d", c.mode, i)
		}
		require.NoError(t, e.Close())
	}
}

// TestRecurrent_refusals asks for what a recurrent network does not have.
func TestRecurrent_refusals(t *testing.T) {
	config := &quant.Config{Global: quant.Setting{Mode: quant.Dynamic, Weight: quant.Scheme{DType: array.U8, Symmetry: quant.Affine}}}
	p, err := quant.Resolve(quanttest.Parse(t, sequence), config, cpu.QuantBackend())
	require.NoError(t, err)
	require.Regexp(t, `%l +weight wh +u8 affine by global +i8 symmetric channel, min_max +Q13 no such scheme: the weight may be i8; .*the weight has no zero points`, p.String())
	config.Strict = true
	_, err = quant.Resolve(quanttest.Parse(t, sequence), config, cpu.QuantBackend())
	require.ErrorContains(t, err, "the weight has no zero points")
	b := cpu.QuantBackend()
	b.Operator(std.Gru).Weight.Affine = true
	_, err = quant.Resolve(quanttest.Parse(t, sequence), &quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}, b)
	require.ErrorContains(t, err, "gru has other weights than i8 without zero points, which is what q_gru takes")
}

// BenchmarkLSTM is lstm_10x256 over 64 steps, in floats and in 8 bits.
func BenchmarkLSTM(b *testing.B) {
	model := models.Lookup("lstm_10x256")
	net := model.New()
	models.Synthetic(model, net, "gofx-1")
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[T,N,256]"))
	require.NoError(b, err)
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(b, err)
	plain, m := graph.Clone(gm.Module), gm.Module
	quanttest.Pipeline(b, m, quant.Convert(&quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}, cpu.QuantBackend()), integer.Lower)
	require.Equal(b, 1, quanttest.Calls(m.Graph, std.QLstm))
	gen := passes.Random{State: 9}
	for _, batch := range []int{1, 16} {
		x := gen.Array(array.F32, 64, batch, 256)
		var results [][]*array.Array
		for _, v := range []struct {
			name string
			m    *graph.Module
		}{{"f32", plain}, {"int8", m}} {
			e, err := cpu.Compile(v.m, lowering.Options{Threads: 1})
			require.NoError(b, err)
			b.Run(v.name+"/b"+string(rune('0'+batch/10))+string(rune('0'+batch%10)), func(b *testing.B) {
				for b.Loop() {
					_, err := e.Run(ctx, []*array.Array{x})
					require.NoError(b, err)
				}
			})
			out, err := e.Run(ctx, []*array.Array{x})
			require.NoError(b, err)
			results = append(results, out)
			require.NoError(b, e.Close())
		}
		for i := range results[0] {
			b.Logf("batch %d, result %d: %.1f dB", batch, i, quanttest.SQNR(results[0][i], results[1][i]))
		}
	}
}
