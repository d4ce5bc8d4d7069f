package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/gofx-dev/gofx/bench/peers"
)

// network lines up what computes a whole network: ways of gofx, the first of which
// is ours of the row, then the peers, with the same weights.
func (b *bench) network(c *Case, row *Row, f *field) error {
	w, err := openNetwork(c.Network, c.Dims)
	if err != nil {
		return err
	}
	theirs := w.ready
	if c.Quant == nil {
		c.Work = workOf(w.ready, nil)
	} else if theirs, err = w.forPeers(*c.Quant); err != nil {
		return err
	} else if c.Work, err = w.quantisedWork(*c.Quant); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "network")
	if err != nil {
		return err
	}
	f.closes = append(f.closes, func() {
		os.RemoveAll(dir)
		debug.FreeOSMemory()
	})
	var feeds []peers.Tensor
	if c.Op != "" {
		if feeds, err = w.dump(dir, theirs); err != nil {
			return err
		}
	}
	prepare := func(threads int) (*Ours, error) { return c.Engines[0].Ours(w, threads) }
	if err := b.ours(row, f, prepare); err != nil {
		return err
	}
	f.list = append(f.list, b.beside(c, row)...)
	for _, e := range c.Engines[1:] {
		r, err := b.engine(c, row, f, w, e, dir)
		if err != nil {
			b.leaveOut(c, row, e.Name, err)
			continue
		}
		r.engine = true
		f.list = append(f.list, r)
	}
	if c.Op != "" {
		b.load(c, row, f, b.networkRequests(c, row, dir, feeds))
	}
	return nil
}

// engine prepares another way of gofx and compares its results.
func (b *bench) engine(c *Case, row *Row, f *field, w *network, e Engine, dir string) (*runner, error) {
	if e.Ours != nil {
		o, err := e.Ours(w, b.threads)
		if err != nil {
			return nil, err
		}
		row.reads(e.Name, o)
		if e.Rough {
			return oursRunner(e.Name, o), nil
		}
		return oursRunner(e.Name, o), c.disagree(e.Name, f.want, peers.ProbeAll(o.Out))
	}
	p, err := w.generated(dir, b.threads)
	if err != nil {
		return nil, err
	}
	f.closes = append(f.closes, p.Close)
	return b.loaded(c, f, p, peerCase{name: e.Name})
}

// networkRequests returns what to ask of PyTorch and of ONNX Runtime, for which
// PyTorch writes the network.
func (b *bench) networkRequests(c *Case, row *Row, dir string, feeds []peers.Tensor) []peerCase {
	if b.torch == nil {
		return nil
	}
	var list []peerCase
	switch {
	case c.Quant == nil: // PyTorch would compute the reference form in floats, step by step
		list = torchModes(peers.Request{Op: c.Op, File: dir})
	case c.Torch:
		list = []peerCase{{name: "torch-int8", process: "torch", load: peers.Request{Op: c.Op, File: dir, Variant: "quantised"}}}
	}
	if b.ort == nil {
		return list
	}
	if _, err := b.torch.Do(peers.Request{Do: "export", File: dir}); err != nil {
		b.leaveOut(c, row, "ort", fmt.Errorf("export: %w", err))
		return list
	}
	return append(list, peerCase{name: "ort", process: "ort",
		load: peers.Request{File: filepath.Join(dir, "network.onnx"), Inputs: feeds, Threads: b.threads}})
}

// torchModes asks PyTorch to compute a network as it is and optimised for inference.
func torchModes(q peers.Request) []peerCase {
	list := []peerCase{{name: "torch", process: "torch", load: q}}
	q.Variant = "frozen"
	frozen := peerCase{name: "torch-frozen", process: "torch", load: q}
	q.Variant = "jit"
	return append(list, peerCase{name: "torch-jit", process: "torch", load: q, instead: &frozen})
}
