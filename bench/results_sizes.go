package main

import (
	"fmt"
	"math"
	"time"

	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// records counts the records of a network for inputs of several sizes, each three times.
func records(m *models.Model, sizes []map[string]int) (n, hits int, err error) {
	w, err := openNetwork(m, sizes[0])
	if err != nil {
		return 0, 0, err
	}
	f, err := nets.New(w.module, compile.Strict())
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for _, dims := range sizes {
		x, err := inputsOf(m, dims)
		if err != nil {
			return 0, 0, err
		}
		for range 3 {
			f.Call(x...)
		}
	}
	s := f.Stats()
	return s.Records, s.Hits, nil
}

// inputsOf makes the inputs of a network.
func inputsOf(m *models.Model, dims map[string]int) (x []*tensor.Tensor, err error) {
	for _, v := range m.Inputs {
		in, err := models.SyntheticInput(v, seed, dims)
		if err != nil {
			return nil, err
		}
		x = append(x, in)
	}
	return x, nil
}

// countSizes counts records of networks whose inputs differ in one size, and compares the record of all sizes with records
// of each: W37.
func countSizes() (list []Count, err error) {
	shallow := models.BertBase
	shallow.NumLayers = 1
	bert := *models.Lookup("bert_base")
	bert.New = func() any { return models.NewBert(shallow) }
	var batches, lengths []int
	for n := range 15 {
		batches, lengths = append(batches, 2+n), append(lengths, 32+16*n)
	}
	for _, v := range []struct {
		name  string
		m     *models.Model
		sizes []map[string]int
	}{
		{"resnet18 28x28, 15 batches: ", small28("resnet18"), sizesOf(nil, "N", batches...)},
		{"bert of one layer, 15 lengths: ", &bert, sizesOf(map[string]int{"N": 1}, "S", lengths...)},
	} {
		n, hits, err := records(v.m, v.sizes)
		if err != nil {
			return nil, err
		}
		mean, most, err := symbolsByExact(v.m, v.sizes)
		if err != nil {
			return nil, err
		}
		list = append(list, Count{v.name + "records", float64(n)}, Count{"hits of 45 calls", float64(hits)},
			Count{"the record of all sizes by one of each, mean", mean}, Count{"most", most})
	}
	return list, nil
}

// symbolsByExact is how long hits of the record that has symbols take by those of a record of each size, over the sizes
// after those that have records of their own: the mean, and the most. Both are timed in turns.
func symbolsByExact(m *models.Model, sizes []map[string]int) (mean, most float64, err error) {
	w, err := openNetwork(m, sizes[0])
	if err != nil {
		return 0, 0, err
	}
	const own = 3 // compile.LiftAfter
	var all [2]*nets.Network
	for i, after := range []int{own, math.MaxInt} {
		if all[i], err = nets.New(w.module, compile.Strict(), compile.LiftAfter(after), compile.On(cpu.Target{}, lowering.Options{Exact: true, Threads: 1})); err != nil {
			return 0, 0, err
		}
		defer all[i].Close()
	}
	for i, dims := range sizes {
		x, err := inputsOf(m, dims)
		if err != nil {
			return 0, 0, err
		}
		least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for range 8 {
			for k, f := range all {
				start := time.Now()
				f.Call(x...)
				least[k] = min(least[k], time.Since(start))
			}
		}
		if i >= own {
			ratio := float64(least[0]) / float64(least[1])
			mean, most = mean+math.Log(ratio), max(most, ratio)
		}
	}
	if s := all[0].Stats(); s.Records != own+1 {
		return 0, 0, fmt.Errorf("expected a record of all sizes, got %s", s)
	}
	return math.Exp(mean / float64(len(sizes)-own)), most, nil
}
