// Command chargpt trains a small GPT to write like gofx's decisions, one character at a time, and
// writes with the package that fxgen generated of a trained one.
//
//	go run . "Context"                      # text from the generated package
//	go run . -train 2000                    # trains, draws loss.svg, writes chars.safetensors
//	go generate .                           # the package of these weights
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/train"
)

//go:generate go tool -modfile=fxgen.mod fxgen gen -o charnet -package charnet -weights chars.safetensors -input chars=i64[N,S] .#GPT -new NewGPT

func main() {
	steps := flag.Int("train", 0, "steps to train; 0 writes text")
	seed := flag.Uint64("seed", 1, "of the pieces to train with, and of the text")
	folder := flag.String("checkpoints", "", "folder of checkpoints, from which training goes on")
	length := flag.Int("n", 400, "characters to write")
	heat := flag.Float64("temperature", 0.6, "of the choice of characters; 0 takes the likeliest")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *steps > 0 {
		err = learn(ctx, *steps, *seed, *folder)
	} else {
		start := strings.Join(flag.Args(), " ")
		if start == "" {
			start = "## Decision\n\n- "
		}
		err = write(ctx, os.Stdout, start, *length, *heat, *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// learn trains and writes the weights and the curve.
func learn(ctx context.Context, steps int, seed uint64, folder string) error {
	model := NewGPT()
	trainer, batches, err := setUp(ctx, model, steps, seed)
	if err != nil {
		return err
	}
	trainer.Log = os.Stdout
	trainer.Checkpoints = train.Checkpoints{Dir: folder}
	var losses []float64
	trainer.OnBatch = func(_ context.Context, b train.Batch) error {
		losses = append(losses, b.Metrics["loss"])
		return nil
	}
	if _, err := trainer.Fit(ctx, train.Prefetch(batches), nil); err != nil {
		return err
	}
	if err := os.WriteFile("loss.svg", []byte(curve(losses)), 0o666); err != nil {
		return err
	}
	return nn.SaveFile("chars.safetensors", model, nil)
}

// epoch is how many steps come between two lines of the log and checkpoints.
const epoch = 50

// setUp captures the step of a model.
func setUp(ctx context.Context, model *GPT, steps int, seed uint64) (*train.Trainer, *windows, error) {
	epochs := (steps + epoch - 1) / epoch
	rule := optim.Rule{
		Optimiser: optim.AdamW{LR: 3e-3, Beta2: 0.99, WeightDecay: 0.1},
		Groups:    []optim.Group{{Params: []string{"*.bias", "*norm*", "chars.*", "places.*"}, Optimiser: optim.AdamW{LR: 3e-3, Beta2: 0.99}}},
		Schedule:  optim.WarmUp(20, 0, optim.Cosine(epochs*epoch, 0.05)),
		ClipNorm:  1,
	}
	step, err := train.NewStep(ctx, model, model.Loss, rule, fx.Input("chars", "i64[N,S]"), fx.Input("next", "i64[N,S]"))
	if err != nil {
		return nil, nil, err
	}
	return &train.Trainer{Step: step, Epochs: epochs}, &windows{text: text, size: 16, batches: min(epoch, steps), seed: seed}, nil
}
