package nets

import (
	"fmt"
	"io"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// Network is the Forward of a module, compiled.
type Network struct {
	Call func(x ...*tensor.Tensor) []*tensor.Tensor
	Func
}

// Func tells what a compiled function has done.
type Func interface {
	Stats() compile.Stats
	Explain(w io.Writer) error
	Close()
}

// New compiles the Forward of a module.
func New(module any, o ...compile.Option) (*Network, error) {
	switch m := module.(type) {
	case *models.ResNet:
		f := CompileResNetForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0])} }, f}, nil
	case *models.DenseNet:
		f := CompileDenseNetForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0])} }, f}, nil
	case *models.Bert:
		f := CompileBertForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor {
			last, pooled := f.Call(m, x[0], x[1])
			return []*tensor.Tensor{last, pooled}
		}, f}, nil
	case *models.LSTM:
		f := CompileLSTMForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor {
			y, h, c := f.Call(m, x[0])
			return []*tensor.Tensor{y, h, c}
		}, f}, nil
	}
	return newOfPaper(module, o...)
}

// newOfPaper compiles the networks of this package.
func newOfPaper(module any, o ...compile.Option) (*Network, error) {
	switch m := module.(type) {
	case *Encoder:
		f := CompileEncoderForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0])} }, f}, nil
	case *DeBERTa:
		f := CompileDeBERTaForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0])} }, f}, nil
	case *Quantized:
		f := CompileQuantizedForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0])} }, f}, nil
	case *TridentNet:
		f := CompileTridentNetForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0])} }, f}, nil
	case *Align:
		f := CompileAlignForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0], x[1])} }, f}, nil
	case *Seq2Seq:
		f := CompileSeq2SeqForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0], x[1])} }, f}, nil
	case *BlockDrop:
		f := CompileBlockDropForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f.Call(m, x[0], x[1])} }, f}, nil
	case *MonoDepth:
		f := CompileMonoDepthForward(o...)
		return &Network{func(x ...*tensor.Tensor) []*tensor.Tensor { return f.Call(m, x[0]) }, f}, nil
	}
	return nil, fmt.Errorf("there is no compiled function of a %T", module)
}
