package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/kept"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/stale"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
)

// TestOptimise_computesAnswersAgainAfterEditsOnly counts what the default pipeline and the CPU
// target compute of what they ask about a graph. They ask for effects alone in some twenty places.
func TestOptimise_computesAnswersAgainAfterEditsOnly(t *testing.T) {
	m := traced(t, models.Lookup("bert_base"))
	count := map[string]int{}
	kept.Watch(func(name string) { count[name]++ })
	defer kept.Watch(nil)
	_, err := passes.Run(context.Background(), m, fx.Optimise(), passes.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"effects": 3, "lint": 5, "not decomposed": 4, "not eval mode": 5, "not flat": 5, "not functional": 5, "not typed": 5,
		"readers of parameters": 1}, count, "Optimise")
	clear(count)
	exe, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	require.NoError(t, exe.Close())
	require.Equal(t, map[string]int{"not flat": 1, "not functional": 1}, count, "Compile")
}

// TestOptimise_noAnswerIsStale computes each answer again when somebody asks for it.
func TestOptimise_noAnswerIsStale(t *testing.T) {
	kept.Check(stale.Panic)
	defer kept.Check(nil)
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			switch m.Name {
			case "mlp", "bert_base", "squeezenet1_1", "lstm_10x256":
			default:
				fxtest.Nightly(t)
			}
			_, err := passes.Run(context.Background(), traced(t, m), fx.Passes(), passes.Options{})
			require.NoError(t, err)
		})
	}
}
