package quant_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes/quant"
)

func TestParseConfig(t *testing.T) {
	c, err := quant.ParseConfig([]byte(`{
  "global": {"mode": "static", "activation": {"dtype": "i8", "symmetry": "symmetric", "observer": "percentile", "percentile": 99.5}},
  "rules": [
    {"op": "embedding", "mode": "weight_only", "weight": {"bits": 4, "granularity": "group", "group": 64}},
    {"type": "nn.Linear", "mode": "dynamic"}
  ],
  "exclude": [{"scope": "head.*"}],
  "strict": true
}`), "quant.json")
	require.NoError(t, err)
	require.Equal(t, quant.Setting{Mode: quant.Static, Activation: quant.Scheme{DType: array.I8, Symmetry: quant.Symmetric,
		Observer: quant.Observer{Kind: quant.Percentile, Percentile: 99.5}}}, c.Global)
	require.Len(t, c.Rules, 2)
	require.Equal(t, quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: 64}, c.Rules[0].Weight)
	require.Equal(t, "op embedding", c.Rules[0].Selector.String())
	require.Equal(t, diag.Pos{File: "quant.json", Line: 4, Col: 5}, c.Rules[0].Pos)
	require.Equal(t, "nn.Linear", c.Rules[1].Type)
	require.Equal(t, "head.*", c.Exclude[0].Scope)
	require.True(t, c.Strict)
}

func TestParseConfig_mistakesHavePositions(t *testing.T) {
	for text, want := range map[string][]string{
		``:                                 {"c.json:1:1: not JSON: unexpected end of JSON input"},
		`{`:                                {"c.json:1:2: not JSON: unexpected end of JSON input"},
		`[]`:                               {"c.json:1:1: the configuration is no object"},
		`{} {}`:                            {"c.json:1:4: not JSON: invalid character '{' after top-level value"},
		"{\n  \"global\": {\"modes\": 1}}": {`c.json:2:14: global has no field "modes", expected one of activation, mode, weight`},
		`{"global": {"mode": 1}}`:          {"c.json:1:21: mode is no text, expected one of float, static, dynamic, weight_only"},
		`{"global": {"mode": "fast"}}`:     {"c.json:1:21: mode is \"fast\", expected one of float, static, dynamic, weight_only"},
		`{"strict": 1}`:                    {"c.json:1:12: strict is neither true nor false"},
		`{"strict": true, "strict": true}`: {`c.json:1:18: field "strict" is given twice`},
		`{"rules": {}}`:                    {"c.json:1:11: rules is no list"},
		`{"rules": [{"op": 3, "x": 0}]}`:   {"c.json:1:19: op is no text", `a rule has no field "x"`},
		`{"rules": [{"mode": "static"}]}`:  {"c.json:1:12: a rule selects by 0 properties"},
		`{"exclude": [{"op": "relu", "name": "y"}]}`:                                              {"c.json:1:14: an exclusion selects by 2 properties"},
		`{"rules": [{"scope": "a[", "mode": "static"}]}`:                                          {`c.json:1:12: a rule: the pattern "a[" is malformed`},
		`{"global": {"weight": {"bits": 3.5}}}`:                                                   {"c.json:1:32: bits is no integer"},
		`{"global": {"weight": {"bits": 3}}}`:                                                     {"global: weight of 3 bits, expected 8 or 4"},
		`{"global": {"weight": {"bits": 4, "dtype": "i8"}}}`:                                      {"weight of 4 bits and element type i8, expected u8"},
		`{"global": {"weight": {"group": 32}}}`:                                                   {"weight with a group of 32 and granularity any"},
		`{"global": {"weight": {"observer": "moving_average"}}}`:                                  {"weight observed by moving_average"},
		`{"global": {"activation": {"bits": 4}}}`:                                                 {"activation of 4 bits, expected 8"},
		`{"global": {"activation": {"dtype": "f32"}}}`:                                            {"activation of element type f32, expected u8 or i8"},
		`{"global": {"activation": {"dtype": "q8"}}}`:                                             {"c.json:1:37: dtype is no element type"},
		`{"global": {"activation": {"granularity": "group"}}}`:                                    {"activation in groups"},
		`{"global": {"activation": {"averaging": 2}}}`:                                            {"averaging 2, expected a number from 0 to 1"},
		`{"global": {"activation": {"averaging": "x"}}}`:                                          {"averaging is no number"},
		`{"global": {"activation": {"percentile": 3}}}`:                                           {"percentile 3, expected a percentage above 50"},
		`{"global": {"mode": "dynamic", "activation": {"observer": "entropy"}}}`:                  {"an observer of activations in mode dynamic"},
		`{"global": {"mode": "static", "activation": {"observer": "min_max", "averaging": 0.5}}}`: {"c.json:1:12: global: activation with averaging and observer min_max"},
		`{"global": {"mode": "static", "weight": {"percentile": 99}}}`:                            {"weight with percentile and observer any"},
		`{"global": {"mode": "dynamic", "activation": {"dtype": "i8"}}}`:                          {"activation i8 in mode dynamic, expected u8 affine tensor"},
		`{"global": {"mode": "weight_only", "activation": {"dtype": "u8"}}}`:                      {"activation u8 in mode weight_only, which leaves values in float"},
		`{"rules": [{"op": "linear", "weight": {"bits": 4}}]}`:                                    {"c.json:1:12: rule for op linear: weight 4 bits in mode float"},
		`{"global": tru}`: {"c.json:1:15: not JSON"},
		`{"a": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: {"values are nested too deeply"},
	} {
		_, err := quant.ParseConfig([]byte(text), "c.json")
		require.ErrorIs(t, err, quant.BadConfig, text)
		for _, w := range want {
			require.ErrorContains(t, err, w, text)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"global": {"mode": "static", "weight": {"bits": 4}}, "rules": [{"op": "linear"}], "strict": true}`))
	f.Add([]byte("{\"a\": [1, \"\\u0000\"]}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, err := quant.ParseConfig(src, "c.json"); err != nil {
			require.ErrorIs(t, err, quant.BadConfig)
		}
	})
}

// TestPrecedence gives a linear layer a mode in every way, each above the one before.
func TestPrecedence(t *testing.T) {
	text := `graph net(%x: f32[2,4]) {
  %w = get_attr[fc.weight] : f32[4,4]
  %y = call_function[linear](%x, %w, _) in "encoder.layer.0" "github.com/gofx-dev/gofx/nn.Linear"
  return %y
}
param fc.weight : f32[4,4]
`
	m := quanttest.Parse(t, text)
	c := &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly}}
	granted := func(want, by string) {
		t.Helper()
		p, err := quant.Resolve(m, c, cpu.QuantBackend())
		require.NoError(t, err)
		e := p.Entries[0]
		for _, e = range p.Entries {
			if e.Part == quant.OperatorPart {
				break
			}
		}
		require.Equal(t, want, e.Granted)
		require.Equal(t, by, e.By)
	}
	granted("weight_only", "global")
	c.Rules = append(c.Rules, quanttest.Rule(quant.Selector{Name: "y"}, quant.Static))
	granted("static", "name y")
	c.Rules[0] = quanttest.Rule(quant.Selector{Op: "linear"}, quant.Dynamic)
	granted("dynamic", "op linear")
	c.Rules = append(c.Rules, quanttest.Rule(quant.Selector{Type: "nn.Linear"}, quant.Static))
	granted("static", "type nn.Linear")
	c.Rules[1].Type = "github.com/gofx-dev/gofx/nn.Linear"
	granted("static", "type github.com/gofx-dev/gofx/nn.Linear")
	c.Rules = append(c.Rules, quanttest.Rule(quant.Selector{Scope: "encoder"}, quant.Dynamic))
	granted("dynamic", "scope encoder")
	c.Rules = append(c.Rules, quanttest.Rule(quant.Selector{Scope: "*.layer.?"}, quant.WeightOnly))
	granted("weight_only", "scope *.layer.?")
	c.Rules = append(c.Rules, quanttest.Rule(quant.Selector{Op: "linear"}, quant.Static)) // a weaker one after it changes nothing
	granted("weight_only", "scope *.layer.?")
	c.Rules = append(c.Rules, quanttest.Rule(quant.Selector{Name: "y"}, quant.Float))
	granted("float", "name y")
	c.Rules = c.Rules[:1]
	c.Exclude = []quant.Selector{{Type: "nn.Linear"}}
	granted("float", "exclude type nn.Linear")
}

func TestSelectors_ofNothingAreErrors(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	_, err := quant.Resolve(m, &quant.Config{
		Rules:   []quant.Rule{quanttest.Rule(quant.Selector{Op: "lstm", Pos: diag.Pos{File: "q.json", Line: 3}}, quant.Static), quanttest.Rule(quant.Selector{Op: "liner"}, quant.Static)},
		Exclude: []quant.Selector{{Name: "conv"}},
		File:    "c.json",
	}, cpu.QuantBackend())
	require.ErrorIs(t, err, quant.BadConfig)
	require.ErrorContains(t, err, "q.json:3: op lstm selects nothing")
	require.ErrorContains(t, err, `c.json: there is no operator "liner"`)
	require.ErrorContains(t, err, "c.json: name conv selects nothing")
}

var ctx = context.Background()
