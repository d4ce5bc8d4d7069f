package graph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// roundTrips are texts as Print writes them.
var roundTrips = map[string]string{
	"identity": `
graph id(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  return %x
}
`,
	"all opcodes": `
type "example.com/net.Net"
graph net(%x: f32[N,4], %mask: i64[N,S] = 3 in "a" at "m.go:1:2" "F") {
  symbol N = dim(%x, 0)
  symbol S = dim(%mask, 1)
  note "x.Dim(0) = 8" at "m.go:7" "main.run"
  %w = get_attr[fc.weight] live : f32[10,4]
  %fc = call_module[fc](%x) : f32[N,10] in "fc" "nn.Linear" at "m.go:41:9" "(*Net).Forward"
  %lin = call_function[@linear](%x, %w, _) : f32[N,10]
  %add_3 = call_method[@add](%lin, %fc) {alpha=2.0, mode="b", value=3} : f32[N,10]
  %twice = call_function[@twice](%add_3) : f32[N,10]
  return %twice at "m.go:42" "(*Net).Forward"
}
param fc.weight : f32[10,4] selector "m.Fc.Weight"
param "odd path//x" : f32[*] buffer
module fc = @linear (weight=fc.weight, bias=_) type "example.com/nn.Linear" selector "m.Fc"
`,
	"structures": `
graph s(%a: f32[2], %b: ?[*]) {
  %split = call_function[@split](%a) {sizes=[N,H//2]} : (f32[N], f32[H//2])
  %getitem = call_function[getitem](%split) {index=1} : f32[H//2]
  return (%a, {k: %b, "odd key": nil}, [%a, (%getitem)], pkg/path.Type{Field: %a}, struct{X: %b}, map pkg.M{}, pkg.L[], _)
}
`,
	"regions": `
graph r(%p: bool[], %x: f32[2]) {
  %cond = call_function[cond](%p, %x, %p) : f32[2] in "m" {
    region yes(%a: f32[2], %q: bool[]) {
      %neg = call_function[@neg](%a) : f32[2]
      return %neg
    }
    region no(%a: f32[2], %q: bool[]) {
      %cond = call_function[cond](%q, %a) : f32[2] {
        region(%b: f32[2]) {
          return %b
        }
        region(%b: f32[2]) {
          return %b
        }
      }
      return %cond
    }
  }
  return %cond
}
`,
	"guards and data-dependent symbols": `
graph g(%x: f32[N,M], %y: f32[M,K], %z: f32[H,W]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  symbol K = dim(%y, 1)
  symbol H = dim(%z, 0)
  symbol W = dim(%z, 1)
  guard N == (H-1)//2
  %nonzero = call_function[@nonzero](%x) : i64[s,2]
  symbol s = dim(%nonzero, 0)
  %add = call_function[@add](%x, %y) : f32[N,M]
  guard M == K from %add
  guard N == M from %add
  return %add, %nonzero
}
`,
	"lists and defaults": `
graph d(%a "a b": f32[2] = 1, %b: ? = 2.5, %c: ?[*] = "x // {", %e: f32[2] = array f32[2] "AACAPwAAAEA=", %f: f32[*] = true) {
  %cat = call_function[@cat]() : ?
  %cat_1 = call_function[@cat](%a, %a, %b) : f32[?]
  %placeholder = placeholder[late] : f32[2] = -1 in "s"
  return in "s" "T"
}
`,
	"unnamed": `
graph(%x: ?[*]) {
}
`,
}

func TestTextRoundTrip(t *testing.T) {
	for name, body := range roundTrips {
		t.Run(name, func(t *testing.T) {
			want := text("gofx 1\n" + body)
			m, err := Parse([]byte(want), "t.fx")
			require.NoError(t, err)
			got := Print(m, PrintOptions{Positions: true})
			want = strings.ReplaceAll(want, "%b: ? = 2.5", "%b: ?[*] = 2.5") // an input is a tensor
			require.Empty(t, cmp.Diff(want, got))
			again, err := Parse([]byte(got), "t.fx")
			require.NoError(t, err)
			require.Equal(t, got, Print(again, PrintOptions{Positions: true}))
		})
	}
}
