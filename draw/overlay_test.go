package draw_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
)

const chain = `gofx 1

graph net(%x: f32[2]) {
  %a = call_function[relu](%x)
  %b = call_function[sigmoid](%a)
  return %b
}
`

// A value that is far off is red.
func ExampleOverlay() {
	m, err := graph.Parse([]byte(chain), "net.fx")
	if err != nil {
		panic(err)
	}
	dot := draw.DOT(m, draw.Options{Overlay: &draw.Overlay{Name: "SQNR", Marks: map[string]draw.Mark{"b": {Heat: 1, Text: "9.0 dB"}}}})
	for line := range strings.Lines(dot) {
		if strings.HasPrefix(line, `  "b" [`) {
			fmt.Println(line[strings.Index(line, "label"):strings.Index(line, ", tooltip")], line[strings.Index(line, "fillcolor"):strings.Index(line, ", color")])
		}
	}
	// Output: label="sigmoid\n9.0 dB" fillcolor="#ef5b5b"
}

func TestOverlayMarks(t *testing.T) {
	m, err := graph.Parse([]byte(chain), "net.fx")
	require.NoError(t, err)
	plain := draw.DOT(m, draw.Options{})
	require.Equal(t, plain, draw.DOT(m, draw.Options{Overlay: &draw.Overlay{Marks: map[string]draw.Mark{"gone": {}}}}), "marks of no node change nothing")
	o := &draw.Overlay{Name: "a\"b", Marks: map[string]draw.Mark{"a": {Heat: math.NaN(), Text: "x\"\n"}, "b": {Heat: -3}}, Legend: []draw.Mark{{Heat: 0.5, Text: "half"}}}
	dot := draw.DOT(m, draw.Options{Overlay: o})
	require.Contains(t, dot, `a&#34;b half `)
	require.Contains(t, dot, `fillcolor="#ef5b5b"`) // NaN is worst
	require.Contains(t, dot, `fillcolor="#f0fdf4"`)
	require.NotContains(t, dot, `>elementwise `, "the legend has the classes that are seen")
	require.Contains(t, string(draw.HTML(m, draw.Options{Overlay: o})), `"overlay":{"name":"a\"b","marks":[{"n":1,"h":1,`)
}
