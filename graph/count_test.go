package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
)

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
		require.Equal(t, want[0], n.Flops().String(), name)
		if want[1] != "" {
			require.Equal(t, want[1], n.Bytes().String(), name)
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
	require.Equal(t, "?", m.Graph.Find("grow").Flops().String())
	require.Equal(t, "16*N*N", m.Graph.Find("either").Flops().String())
}
