package work

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/graph"
)

// windows takes the windows of a sequence apart: with fewer than 65 elements there is one.
const windows = `gofx 1

graph g(%x: f32[N,8,S]) {
  symbol N = dim(%x, 0)
  symbol S = dim(%x, 2)
  %p = call_function[max_pool1d](%x) {kernel_size=[1], stride=[64], padding=[0], dilation=[1]} : f32[N,8,(S-1)//64+1]
  %q = call_function[permute](%p) {dims=[0,2,1]} : f32[N,(S-1)//64+1,8]
  %r = call_function[relu](%q) : f32[N,(S-1)//64+1,8]
  %t = call_function[permute](%r) {dims=[1,0,2]} : f32[(S-1)//64+1,N,8]
  %y = call_function[reshape](%t) {shape=[-1,8]} : f32[N*((S-1)//64+1),8]
  return %y
}
`

// dropped is a pass's result for windows that took sizes of up to 64 for all.
var dropped = strings.Replace(windows, "%y = call_function[reshape](%t)", "%y = call_function[reshape](%r)", 1)

func parsed(t *testing.T, text string) *graph.Module {
	m, err := graph.Parse([]byte(text), "windows.fx")
	require.NoError(t, err)
	return m
}

func TestMadeUpSamplesCoverSizes(t *testing.T) {
	c := &captured{src: &Source{}, gm: parsed(t, windows)}
	list, open, err := c.madeUp(context.Background(), &Job{})
	require.NoError(t, err)
	require.Empty(t, open)
	values := map[int]bool{}
	large := 0
	for _, s := range list {
		n := s.Inputs[0].Value.Dim(2)
		values[(n-1)/64+1] = true
		large = max(large, n)
		require.LessOrEqual(t, s.Inputs[0].Value.Len(), 1<<22)
	}
	require.GreaterOrEqual(t, len(values), 3)
	require.Greater(t, large, 500)
	require.Equal(t, []int{1, 8, 7}, list[0].Inputs[0].Value.Shape(), "the smallest comes first")

	list, open, err = c.madeUp(context.Background(), &Job{Shapes: []Named{{"x", "2,8,200"}}})
	require.NoError(t, err)
	require.Empty(t, open)
	require.Len(t, list, 1)
}

// TestMadeUpSamplesStayWithinTheModel: a table of positions bounds the sizes, which is said.
func TestMadeUpSamplesStayWithinTheModel(t *testing.T) {
	c := &captured{src: &Source{}, gm: parsed(t, `gofx 1

graph g(%x: f32[2,S]) {
  symbol S = dim(%x, 1)
  guard S <= 40
  %p = call_function[slice](%x) {dim=1, stop=9223372036854775807, step=32} : f32[2,(S+31)//32]
  return %p
}
`)}
	list, open, err := c.madeUp(context.Background(), &Job{})
	require.NoError(t, err)
	require.Greater(t, len(list), 1)
	require.Len(t, open, 1)
	require.Equal(t, "(S-1)//32+1", open[0].String())
	require.Contains(t, untried(open).Msg, "fewer than 3 values of: (S-1)//32+1")
}

// TestCertificateFindsPasses: the samples are of the graph before the passes.
func TestCertificateFindsPasses(t *testing.T) {
	for _, style := range []string{Kernel, Module} {
		for _, shapes := range [][]Named{nil, {{"x", "2,8,200"}}} {
			c := &captured{src: &Source{}, gm: parsed(t, windows), origin: parsed(t, windows)}
			j := &Job{Style: style, Shapes: shapes, OutDir: t.TempDir()}
			_, err := c.certificate(context.Background(), j, &Result{})
			require.NoError(t, err)
			c.gm = parsed(t, dropped)
			_, err = c.certificate(context.Background(), j, &Result{})
			require.ErrorIs(t, err, certificate.Differs)
		}
		// With samples that show nothing, -shape does.
		c := &captured{src: &Source{}, gm: parsed(t, dropped), origin: parsed(t, windows)}
		require.NoError(t, c.atShapes(context.Background(), &Job{Style: style}))
		require.NoError(t, c.atShapes(context.Background(), &Job{Style: style, Shapes: []Named{{"x", "2,8,64"}}}))
		require.ErrorIs(t, c.atShapes(context.Background(), &Job{Style: style, Shapes: []Named{{"x", "2,8,200"}}}), certificate.Differs)
	}
}

func TestKeepsResults(t *testing.T) {
	require.True(t, keepsResults(nil))
	require.True(t, keepsResults(Optimise()))
	require.False(t, keepsResults([]string{"moves", "half"}))
	require.False(t, keepsResults([]string{"./own#Pass"}))
}

// TestMadeUpSamplesObeyGuards: a batch of one is refused here.
func TestMadeUpSamplesObeyGuards(t *testing.T) {
	c := &captured{src: &Source{}, gm: parsed(t, `gofx 1

graph f(%x: f32[N,6]) {
  symbol N = dim(%x, 0)
  %a = call_function[reshape](%x) {shape=[N//2,2,6]}
  %b = call_function[permute](%a) {dims=[1,0,2]}
  return %b
}
`)}
	list, open, err := c.madeUp(context.Background(), &Job{})
	require.NoError(t, err)
	require.Empty(t, open)
	require.GreaterOrEqual(t, len(list), 3)
	for _, s := range list {
		require.Zero(t, s.Inputs[0].Value.Dim(0)%2)
	}
}
