// Package train trains models: it captures a step of training as one graph, runs it over the
// batches of a loader, and keeps checkpoints.
//
//	step, err := train.NewStep(ctx, model, loss, optim.Rule{Optimiser: optim.AdamW{LR: 1e-3}}, specs...)
//	trainer := &train.Trainer{Step: step, Epochs: 20}
//	_, err = trainer.Fit(ctx, loader, nil)
//
// A step is an ordinary graph. Its inputs are a batch and its results the loss and metrics; the
// parameters, the buffers of the model, the state of the optimiser and the counters are its state,
// which it writes after it has read all of it. So it is printed, optimised, interpreted, compiled
// and saved like any other graph, and a checkpoint is its state.
//
// The room stands above fx and the CPU target. The gradient is made by passes/grad; how
// parameters follow it is in optim; losses are modules of nn. Here are the step (step.go,
// update.go), programs that run (program.go), data (data.go, batches.go), the loop over epochs
// (trainer.go) and what it needs: checkpoints (checkpoint.go), the search for the first NaN
// (finite.go). Read step.go first.
package train
