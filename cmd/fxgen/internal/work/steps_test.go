package work

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/onnx"
)

// recurrent has two states of a type, and data.
const recurrent = `gofx 1

graph net(%x: f32[N,3], %h: f32[N,4], %c: f32[N,4]) {
  symbol N = dim(%x, 0)
  %p = call_function[pad](%x) {pad=[0,1]} : f32[N,4]
  %s = call_function[add](%p, %h) : f32[N,4]
  %n = call_function[tanh](%s) : f32[N,4]
  %m = call_function[sub](%c, %n) : f32[N,4]
  %y = call_function[softmax](%x) {dim=1} : f32[N,3]
  %z = call_function[cat](%y, %n) {dim=1} : f32[N,7]
  return %z, %n, %m
}
`

// counting keeps a sum.
const counting = `gofx 1

graph net(%x: f32[2,4]) {
  %b = get_attr[total] : f32[2,4]
  %t = call_function[add](%b, %x) : f32[2,4]
  %a = call_function[assign](%b, %t) : f32[2,4]
  %y = call_function[tanh](%t) : f32[2,4]
  return %y
}
param total : f32[2,4] buffer
`

// Of a model with state some calls are made up, next to each other, in both styles.
func TestMadeUpSteps(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		text string
		from []int
	}{{recurrent, []int{0, 2, 3}}, {counting, []int{0}}} {
		m := parsed(t, x.text)
		fillGraph(m, "a")
		c := &captured{src: &Source{}, gm: m}
		require.Equal(t, x.from, c.carried())
		list, _, err := c.madeUp(ctx, &Job{})
		require.NoError(t, err)
		for k := range mostSteps {
			s := list[k]
			require.Equal(t, k > 0, s.Continues)
			for i, in := range s.Inputs {
				if k > 0 {
					require.Equal(t, x.from[i], in.From)
				}
				if k > 0 && in.From == 0 {
					require.False(t, array.Equal(list[k-1].Inputs[i].Value, in.Value), "each call has data of its own")
				}
			}
		}
		for _, s := range list[mostSteps:] {
			require.False(t, s.Continues)
		}
		for _, style := range []string{Kernel, Module} {
			res := &Result{}
			good, err := c.reach(ctx, &Job{Style: style}, list, true, res)
			require.NoError(t, err)
			require.Len(t, good, len(list))
			require.Empty(t, res.Notes)
		}
		// A call that forgets is found.
		broken := append([]certificate.Sample{}, list...)
		broken[1].Continues = false
		for i := range broken[1].Inputs {
			if broken[1].Inputs[i].From > 0 {
				broken[1].Inputs[i] = list[0].Inputs[i]
			}
		}
		_, err = c.reach(ctx, &Job{Style: Kernel}, broken, true, &Result{})
		require.ErrorIs(t, err, certificate.Differs)
	}
}

// A value that looks like a state but is not makes no steps: a model without other
// inputs.
func TestNoSteps(t *testing.T) {
	for _, text := range []string{
		"gofx 1\ngraph g(%x: f32[2,3]) {\n  %y = call_function[relu](%x) : f32[2,3]\n  return %y\n}\n",
		"gofx 1\ngraph g(%x: f32[2,3], %y: f32[2,3]) {\n  %z = call_function[add](%x, %y) : f32[2,3]\n  return %z\n}\n",
		"gofx 1\ngraph g(%x: f32[2,3], %i: i64[2]) {\n  %z = call_function[cast](%x) {dtype=f64} : f64[2,3]\n  return %z\n}\n",
	} {
		c := &captured{src: &Source{}, gm: parsed(t, text)}
		list, _, err := c.madeUp(context.Background(), &Job{})
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
}

// Samples whose inputs are results of the sample before are steps.
func TestChainedSamples(t *testing.T) {
	vector := func(v ...float32) *array.Array { return array.FromSlice(v) }
	sets := []onnx.Sample{
		{Outputs: []*array.Array{vector(0, 0), vector(1, 2)}},
		{Outputs: []*array.Array{vector(0, 0), vector(3, 4)}},
		{Outputs: []*array.Array{vector(0, 0), vector(5, 6)}},
	}
	ins := [][]*array.Array{{vector(9, 8), vector(0, 0)}, {vector(9, 8), vector(1, 2)}, {vector(0, 0), vector(1, 2)}}
	var list []certificate.Sample
	for _, in := range ins {
		var s certificate.Sample
		for _, a := range in {
			s.Inputs = append(s.Inputs, certificate.Input{Value: a})
		}
		list = append(list, s)
	}
	list = chained(list, sets)
	require.False(t, list[0].Continues)
	require.True(t, list[1].Continues)
	require.Equal(t, 2, list[1].Inputs[1].From)
	require.NotNil(t, list[1].Inputs[0].Value)
	require.False(t, list[2].Continues, "zeros are no result, and what is not of the set before neither")
}

func TestSamplesThatFit(t *testing.T) {
	list := make([]certificate.Sample, 3)
	for i := range list {
		list[i].Inputs = []certificate.Input{{Value: array.New(array.F32, 5)}, {From: 1}, {Value: array.New(array.I8, 4)}}
	}
	for most, want := range map[int]int{23: 0, 24: 1, 71: 2, 72: 3} {
		require.Equal(t, want, fitting(list, most), most)
	}
}
