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

// Numbers of a user's own, from a file.
func ExampleParseOverlay() {
	m, err := graph.Parse([]byte(chain), "net.fx")
	if err != nil {
		panic(err)
	}
	o, err := draw.ParseOverlay([]byte(`{"name": "latency", "unit": "ms", "nodes": {"a": 0.5, "b": {"value": 2, "text": "slow"}}}`), "mine.json", m)
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Marks["a"], o.Marks["b"])
	_, err = draw.ParseOverlay([]byte(`{"aa": 1, "b": 2}`), "mine.json", m)
	fmt.Println(err)
	// Output:
	// {0 0.5 ms false} {1 2 ms, slow false}
	// mine.json: no node of the graph is called %aa [FX8043]
	//     hint: fxgen print lists the names; after passes they may be others
}

// Overlays of the chain, which the page reads, too.
var (
	goodOverlays = map[string]draw.Overlay{
		`{"a": -1, "%b": 3, "x": 1}`: {Name: "overlay", Marks: map[string]draw.Mark{"a": {Text: "-1"}, "b": {Heat: 1, Text: "3"}, "x": {Heat: 0.5, Text: "1"}},
			Legend: []draw.Mark{{Text: "-1"}, {Heat: 0.5, Text: "1"}, {Heat: 1, Text: "3"}}},
		`{"a": "int8"}`:             {Name: "overlay", Marks: map[string]draw.Mark{"a": {Text: "int8", Plain: true}}},
		`{"nodes": {"a": 7}}`:       {Name: "overlay", Marks: map[string]draw.Mark{"a": {Text: "7"}}, Legend: []draw.Mark{{Text: "7"}}},
		`{"a": 1e308, "b": -1e308}`: {Name: "overlay", Marks: map[string]draw.Mark{"a": {Heat: 1, Text: "1e+308"}, "b": {Text: "-1e+308"}}, Legend: []draw.Mark{{Text: "-1e+308"}, {Heat: 0.5, Text: "0"}, {Heat: 1, Text: "1e+308"}}},
		`{}`:                        {Name: "overlay", Marks: map[string]draw.Mark{}},
		`{"a": 123456, "b": 0.0000123456}`: {Name: "overlay", Marks: map[string]draw.Mark{"a": {Heat: 1, Text: "123500"}, "b": {Text: "1.235e-05"}},
			Legend: []draw.Mark{{Text: "1.235e-05"}, {Heat: 0.5, Text: "61730"}, {Heat: 1, Text: "123500"}}},
	}
	badOverlays = map[string]string{
		`[1]`:                              "no object of JSON",
		`{"a": 1`:                          "no object of JSON",
		`{"a": null}`:                      `node "a" has null, expected a number, a text, or both`,
		`{"a": ""}`:                        `node "a" has "", expected`,
		`{"a": [1]}`:                       `node "a" has [1], expected`,
		`{"a": {"valeu": 1}}`:              `node "a" has {"valeu": 1}, expected`,
		`{"a": 1e999}`:                     `node "a" has 1e999, expected`,
		`{"a": 1, "%a": 2}`:                `node "a" is there twice`,
		`{"unit": 3, "nodes": {"a": 1}}`:   "the overlay cannot be read",
		`{"name": "FLOPs", "nodes": {}}`:   `the name "FLOPs" is that of an overlay`,
		`{"title": "t", "nodes": {"a":1}}`: `node "nodes" has {"a":1}, expected`,
		`{"a": 1, "sigmoid": 2, "c": 3}`:   "is called %c, %sigmoid",
	}
)

func TestParseOverlay(t *testing.T) {
	m, err := graph.Parse([]byte(chain), "net.fx")
	require.NoError(t, err)
	for text, want := range goodOverlays {
		o, err := draw.ParseOverlay([]byte(text), "f.json", m)
		require.NoError(t, err, text)
		require.Equal(t, want, *o, text)
	}
	for text, want := range badOverlays {
		_, err := draw.ParseOverlay([]byte(text), "f.json", m)
		require.ErrorIs(t, err, draw.BadOverlay, text)
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "f.json", text)
	}
}

// A text alone leaves the colour, nodes of regions are marked.
func TestOverlay_marksTextsAndRegions(t *testing.T) {
	m, err := graph.Parse([]byte(chain), "net.fx")
	require.NoError(t, err)
	o, err := draw.ParseOverlay([]byte(`{"a": "int8", "b": 4}`), "f.json", m)
	require.NoError(t, err)
	dot := draw.DOT(m, draw.Options{Overlay: o})
	require.Contains(t, dot, `label="relu\nint8"`)
	require.Contains(t, dot, `>elementwise `)
	require.Contains(t, dot, `fillcolor="#dcfce7"`)
	require.Contains(t, string(draw.HTML(m, draw.Options{Overlay: o})), `{"n":1,"h":-1,"t":"int8"}`)
	calls := load(t, "calls.fx")
	o, err = draw.ParseOverlay([]byte(`{"layer.relu": 1}`), "f.json", calls)
	require.NoError(t, err)
	require.Contains(t, draw.DOT(calls, draw.Options{Overlay: o}), `label="relu\n1"`)
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
