package main

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
)

// networkTol is the difference of results that networks are allowed, relative to
// their mean magnitude.
const networkTol = 5e-3

// tokens is the length of the texts.
const tokens = 128

// modelCases are the networks of package models, with one input and with eight.
func modelCases() []*Case {
	var list []*Case
	for _, m := range models.All() {
		if again(m) {
			continue
		}
		for _, n := range []int{1, 8} {
			list = append(list, &Case{Group: "model", Shape: fmt.Sprintf("%s_b%d", m.Name, n), Tol: networkTol, Op: "network",
				Network: m, Dims: dimsOf(m, n), Engines: []Engine{
					{Name: "plan", Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }},
					{Name: "eager", Ours: func(w *network, _ int) (*Ours, error) { return w.eager() }},
					{Name: "interp", Ours: func(w *network, _ int) (*Ours, error) { return w.interp(fx.Optimise()) }},
					{Name: "gen"}}})
		}
	}
	return append(list, decodeCases()...)
}

var batchSuffix = regexp.MustCompile(`_b\d+$`)

// again reports whether an entry is another one with a batch of its own.
func again(m *models.Model) bool {
	base := batchSuffix.ReplaceAllString(m.Name, "")
	return base != m.Name && models.Lookup(base) != nil
}

// dimsOf are the sizes of the reference with another batch.
func dimsOf(m *models.Model, batch int) map[string]int {
	dims := maps.Clone(m.Dims)
	dims["N"] = batch
	if _, ok := dims["S"]; ok {
		dims["S"] = tokens
	}
	return dims
}

// foldCases are ResNet-50 with and without folding batch norms into convolutions.
func foldCases() []*Case {
	var list []*Case
	m := models.Lookup("resnet50")
	for _, n := range []int{1, 8} {
		add := func(engine string, run func(w *network, pipeline []passes.Pass, threads int) (*Ours, error)) {
			list = append(list, &Case{Group: "fold", Shape: fmt.Sprintf("resnet50_%s_b%d", engine, n), Tol: networkTol,
				Network: m, Dims: dimsOf(m, n), Engines: []Engine{
					{Name: "folded", Ours: func(w *network, threads int) (*Ours, error) { return run(w, fx.Optimise(), threads) }},
					{Name: "not folded", Ours: func(w *network, threads int) (*Ours, error) { return run(w, without("conv-bn", "bn-affine"), threads) }}}})
		}
		add("plan", (*network).plan)
		add("interp", func(w *network, pipeline []passes.Pass, _ int) (*Ours, error) { return w.interp(pipeline) })
	}
	return list
}
