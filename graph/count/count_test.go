package count_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	_ "github.com/gofx-dev/gofx/op/std"
)

func read(t *testing.T, text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n"+text), "t.fx")
	require.NoError(t, err)
	return m
}

func TestCountsGoIntoBodies(t *testing.T) {
	text := `graph net(%x: f32[N,8], %p: bool[]) {
  symbol N = dim(%x, 0)
  %a = call_function[call](%x) {graph="twice"} : f32[N,8]
  %c = call_function[cond](%p, %a) : f32[N,8] {
    region(%i: f32[N,8]) {
      %i1 = call_function[mul](%i, %i) : f32[N,8]
      %i2 = call_function[add](%i1, %i) : f32[N,8]
      return %i2
    }
    region(%i: f32[N,8]) {
      %i1 = call_function[neg](%i) : f32[N,8]
      return %i1
    }
  }
  %w = call_function[while](%c) {carry=1} : f32[N,8] {
    region(%i: f32[N,8]) {
      %s = call_function[sum](%i) {dim=[]} : f32[]
      %t = call_function[gt](%s, %s) : bool[]
      return %t
    }
    region(%i: f32[N,8]) {
      %j = call_function[call](%i) {graph="layer"} : f32[N,8]
      return %j
    }
  }
  %z = call_function[sum](%w) {dim=[0]} : f32[8]
  %s = call_function[scan](%z, %w) {carry=1, seqs=1} : (f32[8], f32[N,8]) {
    region(%h: f32[8], %v: f32[8]) {
      %h1 = call_function[add](%h, %v) : f32[8]
      %h2 = call_function[exp](%h1) : f32[8]
      return %h1, %h2
    }
  }
  %y = call_function[getitem](%s) {index=1} : f32[N,8]
  return %y
}

subgraph twice(%x: f32[R,C]) {
  symbol R = dim(%x, 0)
  symbol C = dim(%x, 1)
  %a = call_function[call](%x) {graph="layer"} : f32[R,C]
  %b = call_function[call](%a) {graph="layer"} : f32[R,C]
  %c = call_function[neg](%b) : f32[R,C]
  return %c
}

subgraph layer(%x: f32[R,C]) {
  symbol R = dim(%x, 0)
  symbol C = dim(%x, 1)
  %w = get_attr[w] : f32[8,8]
  %y = call_function[matmul](%x, %w) : f32[R,8]
  return %y
}
param w : f32[8,8]
`
	m := read(t, text)
	require.NoError(t, graph.Lint(m.Graph).Err())
	for name, want := range map[string][2]string{
		"a": {"264*N", "192*N+512"},
		"c": {"16*N", "192*N"},
		"w": {"136*N*turns_w+8*N+turns_w+1", ""},
		"s": {"16*N", ""},
	} {
		n := m.Graph.Find(name)
		require.Equal(t, want[0], count.Flops(n).String(), name)
		if want[1] != "" {
			require.Equal(t, want[1], count.Bytes(n).String(), name)
		}
	}
}

// Sizes that only a run tells are not guessed.
func TestCountsThatOnlyRunsTell(t *testing.T) {
	const text = `graph net(%x: f32[N,8], %p: bool[]) {
  symbol N = dim(%x, 0)
  %grow = call_function[while](%x) {carry=1} : f32[*] {
    region(%i: f32[T,8]) {
      symbol T = dim(%i, 0)
      %s = call_function[sum](%i) : f32[]
      %t = call_function[gt](%s, %s) : bool[]
      return %t
    }
    region(%i: f32[T,8]) {
      symbol T = dim(%i, 0)
      %j = call_function[cat](%i, %i) : f32[2*T,8]
      %k = call_function[neg](%j) : f32[2*T,8]
      return %k
    }
  }
  %either = call_function[cond](%p, %x) : f32[N,8] {
    region(%i: f32[N,8]) {
      %w = call_function[einsum](%i, %i) {equation="ij,kj->ik"} : f32[N,N]
      return %i
    }
    region(%i: f32[N,8]) {
      return %i
    }
  }
  return %either
}
`
	m := read(t, text)
	require.Equal(t, "?", count.Flops(m.Graph.Find("grow")).String())
	require.Equal(t, "16*N*N", count.Flops(m.Graph.Find("either")).String())
}

const twoLayers = `graph net(%x: f32[N,4], %scale: f32[]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _) : f32[N,4]
  %b = call_function[relu](%a) : f32[N,4]
  %fc = call_module[fc](%b) : f32[N,2]
  %s = call_function[mul](%fc, %scale) : f32[N,2]
  %r = call_function[reshape](%s) {shape=[2*N]} : f32[2*N]
  %d = call_function[add](%r, %r) : f32[2*N]
  %e = call_function[reshape](%d) {shape=[N,2]} : f32[N,2]
  return %e
}
param w : f32[4,4]
param fc.weight : f32[2,4]
module fc = linear (weight=fc.weight, bias=_)
`

func TestFlopsAndBytes(t *testing.T) {
	m := read(t, twoLayers)
	for name, want := range map[string][2]string{
		"x": {"0", "0"}, "w": {"0", "0"}, // no calls
		"a":  {"32*N", "32*N+64"},
		"b":  {"4*N", "32*N"},
		"fc": {"16*N", "24*N+32"}, // with the module's weight
		"s":  {"2*N", "16*N+4"},
		"r":  {"0", "16*N"}, // may copy
	} {
		n := m.Graph.Find(name)
		require.Equal(t, want, [2]string{count.Flops(n).String(), count.Bytes(n).String()}, name)
	}
	require.Len(t, m.Graph.Find("fc").OperandTypes(), 3)
	require.Equal(t, "f32[2,4]", m.Graph.Find("fc").OperandTypes()[1].String())

	m = read(t, `graph net(%x: f32[*], %y: f32[2,6]) {
  %t = call_function[split](%y) {sizes=[2,4], dim=1} : (f32[2,2], f32[2,4])
  %p = call_function[getitem](%t) : f32[2,2]
  %a = call_function[add](%x, %y) : f32[*]
  %k = call_function[topk](%y) {k=2, dim=1} : (f32[2,2], i64[2,2])
  %v = call_function[getitem](%k) : f32[2,2]
  return %p, %a, %v
}
`)
	for name, want := range map[string][2]string{
		"t": {"0", "0"}, "p": {"0", "0"}, "a": {"?", "?"}, "k": {"0", "96"},
	} {
		n := m.Graph.Find(name)
		require.Equal(t, want, [2]string{count.Flops(n).String(), count.Bytes(n).String()}, name)
	}
}
