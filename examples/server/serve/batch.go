package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/array"
)

var errClosed = errors.New("the server is closed")

// job is the rows of one request.
type job struct {
	ctx    context.Context
	rows   []row
	came   time.Time
	answer chan outcome // has room for the one answer, so that nobody waits to give it
}

type outcome struct {
	rows []row
	err  error
}

// batcher puts the rows of several requests into one call of the model.
type batcher struct {
	s     *Server
	queue chan *job
	ctx   context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup
}

func newBatcher(s *Server) *batcher {
	b := &batcher{s: s, queue: make(chan *job, s.options.MaxRequests)}
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.ended.Go(b.collect)
	return b
}

// close ends running batches and refuses the jobs that wait.
func (b *batcher) close() {
	b.stop()
	b.ended.Wait()
}

// compute returns a row of results for each of rows.
func (b *batcher) compute(ctx context.Context, rows []row) ([]row, error) {
	j := &job{ctx: ctx, rows: rows, came: time.Now(), answer: make(chan outcome, 1)}
	queue := b.queue
	for {
		select {
		case queue <- j: // which is full only when jobs in it have been given up
			queue = nil
		case o := <-j.answer:
			if o.err == nil || ctx.Err() == nil {
				return o.rows, o.err
			}
			return nil, fmt.Errorf("no answer in time: %w", ctx.Err())
		case <-ctx.Done():
			return nil, fmt.Errorf("no answer in time: %w", ctx.Err())
		case <-b.ctx.Done():
			return nil, errClosed
		}
	}
}

// collect fills one batch after the other. It takes a worker first: while all of
// them compute, jobs wait in the queue, and the next batch is the larger for it.
func (b *batcher) collect() {
	workers := make(chan struct{}, b.s.options.Workers)
	var left *job // did not fit into the last batch
	for {
		select {
		case workers <- struct{}{}:
		case <-b.ctx.Done():
			return
		}
		var batch []*job
		batch, left = b.fill(left)
		if b.ctx.Err() != nil {
			return
		}
		b.ended.Go(func() {
			defer func() { <-workers }()
			b.run(batch)
		})
	}
}

// fill waits for a first job, and then for more until the batch is full or the first
// one has waited long enough. left begins the next batch.
func (b *batcher) fill(first *job) (batch []*job, left *job) {
	rows := 0
	var late <-chan time.Time
	for j := first; ; j = nil {
		for j == nil {
			if rows > 0 && late == nil {
				late = time.After(time.Until(batch[0].came.Add(b.s.options.MaxWait)))
			}
			select { // values that are already present do not depend on the time
			case j = <-b.queue:
				continue
			default:
			}
			select {
			case j = <-b.queue:
			case <-late:
				return batch, nil
			case <-b.ctx.Done():
				return batch, nil
			}
		}
		switch {
		case j.ctx.Err() != nil: // its client has gone or was told that it took too long
		case rows+len(j.rows) > b.s.options.MaxBatch:
			return batch, j
		default:
			batch, rows = append(batch, j), rows+len(j.rows)
		}
		if rows == b.s.options.MaxBatch {
			return batch, nil
		}
	}
}

// run computes a batch and gives every job its rows.
func (b *batcher) run(batch []*job) {
	var rows []row
	for _, j := range batch {
		rows = append(rows, j.rows...)
	}
	x, n := slices.Concat(rows...), len(rows)
	ctx, cancel := b.whileWanted(batch)
	defer cancel()
	b.s.metrics.batches.observe(float64(n))
	y, err := forward(ctx, *b.s.model.Load(), array.DenseOf(x, append([]int{n}, b.s.options.Row...)...))
	switch {
	case err == nil:
	case b.ctx.Err() != nil:
		err = errClosed
	case len(batch) > 1 && ctx.Err() == nil:
		for _, j := range batch { // the others are not to suffer from the one at fault
			b.run([]*job{j})
		}
		return
	}
	at := 0
	for _, j := range batch {
		if err != nil {
			j.answer <- outcome{err: err}
			continue
		}
		rows := y[at : at+len(j.rows)]
		at += len(j.rows)
		j.answer <- outcome{rows, finite(rows)}
	}
}

// whileWanted returns a context that ends when no request of the batch waits any more.
func (b *batcher) whileWanted(batch []*job) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(b.ctx)
	var waiting atomic.Int64
	waiting.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, j := range batch {
		stops[i] = context.AfterFunc(j.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// forward calls the model and returns the rows of its result. A panic of the model is an
// error of this call: the process, which has other requests, goes on.
func forward(ctx context.Context, m Model, x array.Dense[float32]) (rows []row, err error) {
	defer func() {
		if p := recover(); p != nil {
			rows, err = nil, fmt.Errorf("the model panicked: %v\n%s", p, debug.Stack())
		}
	}()
	y, err := m.Forward(ctx, x)
	if err != nil {
		return nil, err
	}
	if y.Array == nil || y.Rank() == 0 || y.Dim(0) != x.Dim(0) {
		return nil, fmt.Errorf("the model has no row of results for each of %d inputs", x.Dim(0))
	}
	data := y.Data()
	width := len(data) / y.Dim(0)
	rows = make([]row, y.Dim(0))
	for i := range rows {
		rows[i] = data[i*width : (i+1)*width : (i+1)*width]
	}
	return rows, nil
}

// finite refuses numbers that JSON does not have.
func finite(rows []row) error {
	for i, row := range rows {
		for _, v := range row {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return refuse(422, "the result of input %d has numbers that are not finite", i)
			}
		}
	}
	return nil
}
