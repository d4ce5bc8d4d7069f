package named

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

type sgd struct {
	LR, WeightDecay float64
	AMSGrad         bool
	Steps           int
	hidden          float64
}

func (s sgd) String() string { return "sgd" + strconv.FormatFloat(s.hidden, 'g', -1, 64) }

func TestMake(t *testing.T) {
	table := []Entry[interface{ String() string }]{{"sgd", sgd{LR: 1}}, {"pointer", &sgd{Steps: 2}}}
	require.Equal(t, []string{"sgd", "pointer"}, Names(table))
	for text, want := range map[string]any{
		"sgd":                                  sgd{LR: 1},
		" sgd ( ) ":                            sgd{LR: 1},
		"sgd(lr=1e-3, weight_decay = .5)":      sgd{LR: 1e-3, WeightDecay: .5},
		"pointer(amsgrad=true,steps=3,lr=0.5)": &sgd{LR: .5, Steps: 3, AMSGrad: true},
	} {
		got, err := Make("FX0000", "optimiser", text, table)
		require.NoError(t, err, text)
		require.Equal(t, want, any(got), text)
	}
	require.Equal(t, &sgd{Steps: 2}, table[1].Value, "the defaults stay")
	for text, want := range map[string]string{
		"":                     `there is no optimiser ""`,
		"sdg":                  "did you mean sgd?",
		"sgd(lr=1":             "a parenthesis is missing",
		"sgd)":                 `there is no optimiser "sgd)"`,
		"sgd(lr=1)x":           "a parenthesis is missing",
		"sgd(lr)":              "expected NAME=NUMBER",
		"sgd(,)":               "expected NAME=NUMBER",
		"sgd(hidden=1)":        `has no setting "hidden"`,
		"sgd(wieght_decay=1)":  "did you mean weight_decay?",
		"sgd(lr=1,lr=2)":       "lr is given twice",
		"sgd(lr=a)":            "expected a number",
		"sgd(steps=1.5)":       "expected a whole number",
		"sgd(amsgrad=maybe)":   "expected true or false",
		"sgd(lr=a,amsgrad=no)": "amsgrad",
	} {
		_, err := Make("FX0000", "optimiser", text, table)
		require.ErrorContains(t, err, want, text)
	}
	_, err := Make("FX0000", "optimiser", "sgd(lr=1)", table, "lr=2")
	require.ErrorContains(t, err, "lr is given twice")
}
