package main

import (
	"context"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/train"
)

// NewStep captures a step of training for fxgen, which writes it as Go that imports kernels and arrays alone:
//
//	fxgen gen -o digitstep -weights-mode given .#NewStep
func NewStep() (*train.Step, error) {
	model := NewNet(1)
	rule := optim.Rule{Optimiser: optim.AdamW{LR: 4e-3, WeightDecay: 0.05}}
	return train.NewStep(context.Background(), model, model.Loss, rule, fx.Input("images", "u8[N,8,8]"), fx.Input("labels", "i64[N]"))
}
