package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/cost"
)

func TestCostOfANetwork(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, serveCost("mlp_b1", "1", &out))
	r := &costRow{}
	require.NoError(t, json.Unmarshal(out.Bytes(), r))
	require.Len(t, r.Work.Steps, 3)
	require.Len(t, r.Steps, 3)
	require.Positive(t, r.Whole)
	require.ErrorContains(t, serveCost("mlp_b7", "1", &out), "there is no network mlp_b7")
}

// A network is predicted by others of another architecture.
func TestCostsAreLearntFromOthers(t *testing.T) {
	row := func(name string, slower int64) *costRow {
		r := &costRow{Name: name, Device: &cost.Device{Threads: 1, Float: 1e9, Memory: []cost.Level{{Rate: 1e9}}}, Steps: map[int]time.Duration{},
			Work: &cost.Work{Name: name, Memory: cost.Memory{Arena: 2e6}}, Peak: 5e6}
		for i := range 6 {
			s := cost.Step{At: i, Kind: "MatMul", Times: 1, Flops: int64(i+1) * 1e6}
			r.Steps[i] = time.Duration(slower * s.Flops)
			r.Whole += r.Steps[i]
			r.Work.Steps = append(r.Work.Steps, s)
		}
		return r
	}
	var b strings.Builder
	require.NoError(t, writeCosts(&b, []*costRow{row("resnet18_b1", 2), row("resnet50_b1", 8), row("bert_base_b1", 4)}))
	require.Contains(t, b.String(), "| resnet18_b1 | 84.000 | 42.000 | 2.00 | 21.000 | 5.0 | 5.0 | 1.00 |", "as fast as the other architecture")
	require.Contains(t, b.String(), "| bert_base_b1 | 105.000 | 84.000 | 1.25 |", "between both others")
}
