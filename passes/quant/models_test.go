package quant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/quant"
)

// TestPlansOfModels demands a reason for everything that stays in float, in networks
// as they are.
func TestPlansOfModels(t *testing.T) {
	for name, want := range map[string]map[quant.Mode]int{
		"bert_base":          {quant.Static: 88, quant.Dynamic: 76, quant.WeightOnly: 76},
		"resnet50":           {quant.Static: 122},
		"mobilenet_v3_large": {quant.Static: 140},
	} {
		model := models.Lookup(name)
		var opts []fx.Option
		for _, in := range model.Inputs {
			opts = append(opts, fx.Input(in.Name, in.Type))
		}
		gm, err := fx.Trace(ctx, model.New(), opts...)
		require.NoError(t, err)
		_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
		require.NoError(t, err)
		for mode, granted := range want {
			p, err := quant.Resolve(gm.Module, &quant.Config{Global: quant.Setting{Mode: mode}}, cpu.QuantBackend())
			require.NoError(t, err)
			got := 0
			for _, e := range p.Entries {
				if e.Part == quant.OperatorPart && e.Granted == "float" {
					require.NotEmpty(t, e.Why, "%s: %%%s", name, e.Node)
				} else if e.Part == quant.OperatorPart {
					got++
				}
				require.NotEmpty(t, e.Asked)
				require.NotEmpty(t, e.By)
				require.NotEmpty(t, e.Granted)
			}
			require.Equal(t, granted, got, "%s %s", name, mode)
		}
	}
}
