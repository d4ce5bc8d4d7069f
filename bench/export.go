package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/passes/quant"
)

// exported is a network as the peers read it: the calls for PyTorch, an ONNX file, a StableHLO
// program, and for a decoder a GGUF file.
type exported struct {
	dir     string         // network.json for PyTorch
	float   string         // that of the network in floats, where the one in dir is quantised
	feeds   []peers.Tensor // the inputs
	dynamic bool           // ranges are found in each run

	onnx, floatONNX string
	onnxErr         error
	mlir            string
	weights         []peers.Tensor // operands of the program, after the inputs
	mlirErr         error
	gguf            string
	past            *peers.Tensor // the tokens before the one that is decoded
}

// export writes a network into a folder; g is the form that peers are given.
func (w *network) export(dir string, c *Case, g *graph.Module) (*exported, error) {
	x := &exported{dir: dir, dynamic: c.Quant != nil && c.Quant.Global.Mode == quant.Dynamic}
	var err error
	if x.feeds, err = w.dump(dir, g); err != nil {
		return nil, err
	}
	x.onnx = filepath.Join(dir, "network.onnx")
	x.onnxErr = onnx.ExportFile(x.onnx, g, onnx.ExportOptions{})
	if x.dynamic {
		x.float = filepath.Join(dir, "float")
		x.floatONNX = filepath.Join(x.float, "network.onnx")
		err := os.Mkdir(x.float, 0o700)
		if err == nil {
			err = oracle.DumpNetwork(x.float, w.ready, w.arrays())
		}
		if err == nil {
			err = onnx.ExportFile(x.floatONNX, w.ready, onnx.ExportOptions{})
		}
		if err != nil {
			return nil, err
		}
	}
	x.mlirErr = x.stableHLO(w, c, g)
	if c.Decoder != nil {
		x.gguf = filepath.Join(dir, "network.gguf")
		if x.past, err = w.decoder(x.gguf, c); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// stableHLO writes the program and its weights. It is that of the optimised graph: XLA and IREE
// take weights as operands, and cannot fold one into another themselves.
func (x *exported) stableHLO(w *network, c *Case, g *graph.Module) (err error) {
	if c.Quant == nil {
		if g, err = w.optimised(fx.Optimise()); err != nil {
			return err
		}
	}
	p, err := xla.Emit(g, lowering.Options{Shapes: w.dims})
	if err != nil {
		return err
	}
	x.mlir = filepath.Join(x.dir, "network.mlir")
	if err := os.WriteFile(x.mlir, []byte(p.String()), 0o600); err != nil {
		return err
	}
	name := filepath.Join(x.dir, "weights.bin")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	offset := int64(0)
	for _, a := range p.Weights {
		data := oracle.Bytes(array.Contiguous(g.Param(a.Name).Value))
		if _, err := file.Write(data); err != nil {
			return errors.Join(err, file.Close())
		}
		x.weights = append(x.weights, peers.Tensor{Shape: a.Dims, DType: a.DType.String(), File: name, Offset: offset})
		offset += int64(len(data))
	}
	return file.Close()
}

// torchMode is a way of PyTorch to compute a network.
type torchMode struct {
	name, process, variant, dir string
	newest                      bool // 1.13 has no such thing
}

// torch lists the ways of PyTorch for a case.
func (x *exported) torch(c *Case) (list []torchMode) {
	switch {
	case c.Quant == nil:
		list = []torchMode{{name: "torch", process: "torch"}, {name: "torch-compile", process: "torch", variant: "compile", newest: true},
			{name: "torch-1.13", process: "torch-1.13"}, {name: "torch-1.13-jit", process: "torch-1.13", variant: "jit"}}
	case c.Quant.Global.Mode == quant.WeightOnly: // PyTorch would compute the reference form in floats, step by step
		return nil
	default:
		list = []torchMode{{name: "torch-int8", process: "torch", variant: "quantised"}, {name: "torch-1.13-int8", process: "torch-1.13", variant: "quantised"}}
	}
	for i := range list {
		list[i].dir = x.dir
	}
	if x.dynamic {
		list = append(list, torchMode{name: "torchao", process: "torch", variant: "ao", dir: x.float, newest: true})
	}
	return list
}
