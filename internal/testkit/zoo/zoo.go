package zoo

import "slices"

// Row is a network of package models.
type Row struct {
	Name       string
	Parameters int // trained elements, a tied one once
	MACs       int // multiply-adds of convolutions and matrix products in one run of the reference
	Calls      int // calls in a trace
}

// The largest networks that tests run on every change.
const (
	smallParameters = 12_000_000
	smallMACs       = 2_000_000_000
)

// Small reports whether tests run a network of these sizes on every change.
func Small(parameters, macs int) bool {
	return parameters <= smallParameters && macs <= smallMACs
}

// Engine is a way to run networks.
type Engine struct {
	Name string
	Doc  string // how a network is run
	// Always are the networks that are run on every change; nil stands for the small ones.
	Always []string
	// Not says of networks why the engine does not compute the reference's outputs.
	Not map[string]string
	// Bound is how far results may be from the reference's, in L2, and Bounds the bounds of networks
	// that have another one; 0 for engines that keep the reference's own.
	Bound  float64
	Bounds map[string]float64
}

// Within is how far the results of a network may be from the reference's, in L2.
func (e *Engine) Within(network string) float64 {
	if b, ok := e.Bounds[network]; ok {
		return b
	}
	return e.Bound
}

// Tier says how often an engine runs a network: on every change, nightly, or never.
type Tier string

// The tiers.
const (
	Change  Tier = "change"
	Nightly Tier = "nightly"
	Never   Tier = ""
)

// Tier is how often the engine runs a network.
func (e *Engine) Tier(r Row) Tier {
	always := Small(r.Parameters, r.MACs)
	if e.Always != nil {
		always = slices.Contains(e.Always, r.Name)
	}
	switch {
	case e.Not[r.Name] != "":
		return Never
	case always:
		return Change
	}
	return Nightly
}

// Of returns the row of a network, and whether there is one.
func Of(name string) (Row, bool) {
	for _, r := range Rows {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

// Lookup returns the engine of that name, nil where there is none.
func Lookup(name string) *Engine {
	for i := range Engines {
		if Engines[i].Name == name {
			return &Engines[i]
		}
	}
	return nil
}
