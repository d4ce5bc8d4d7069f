package counts

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Workers trains ResNet-18 on images of 28 by 28 in one session, and then in two of two goroutines, each with its own copy and its
// own part of the batches: W12. It tells the graphs of each session, and how many steps a second each of two goroutines makes by
// those of one alone: the most of so many turns.
func Workers(turns, steps int) func(tell Tell) error {
	return func(tell Tell) error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		var list [2]*worker
		for i := range list {
			w, err := newWorker()
			if err != nil {
				return err
			}
			defer w.s.Close()
			list[i] = w
		}
		alone, both := time.Duration(0), time.Duration(0)
		for i := range turns {
			a, err := run(steps, list[0])
			if err != nil {
				return err
			}
			b, err := run(steps, list[:]...)
			if err != nil {
				return err
			}
			if i == 0 || a < alone {
				alone = a
			}
			if i == 0 || b < both {
				both = b
			}
		}
		for i, name := range []string{"first session: graphs", "second session: graphs"} {
			tell.int(name, list[i].s.Stats().Graphs)
			tell.int("compiled", list[i].s.Stats().Compiles)
		}
		tell("steps a second of one alone", float64(steps)/alone.Seconds())
		tell("steps of each by one alone", alone.Seconds()/both.Seconds())
		return nil
	}
}

// worker is a network with its session.
type worker struct {
	s    *lazy.Session
	step func() error
}

func newWorker() (*worker, error) {
	spec := models.Lookup("resnet18")
	net := spec.New()
	models.Synthetic(spec, net, "workers")
	nn.Train(net)
	params, entropy := nn.Parameters(net), nn.NewCrossEntropyLoss()
	s := lazy.New(lazy.Options{Gradients: true, Donate: true, Synchronous: true, Threads: 1})
	x, labels := tensor.Ones(4, 3, 28, 28), tensor.FromSlice([]int64{1, 2, 3, 4})
	w := &worker{s: s, step: func() error {
		loss := entropy.Forward(nn.Run(net, s.In(x)), s.In(labels))
		for i, g := range tensor.Grad(loss, params...) {
			params[i].SubInPlace(g.MulScalar(0.01))
		}
		return s.Barrier()
	}}
	for range 5 {
		if err := w.step(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return w, nil
}

// run makes each worker make its steps, all at once.
func run(steps int, list ...*worker) (time.Duration, error) {
	failed := make([]error, len(list))
	start := time.Now()
	var all sync.WaitGroup
	for i, w := range list {
		all.Go(func() {
			for range steps {
				if failed[i] = w.step(); failed[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start), errors.Join(failed...)
}
