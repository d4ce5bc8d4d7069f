package published

import (
	"fmt"
	"reflect"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/tensor"
)

// Network is the Forward of a module, compiled.
type Network struct {
	Func
	module, call reflect.Value
}

// Func tells what a compiled function has done.
type Func interface {
	Stats() compile.Stats
	Close()
}

// New compiles the Forward of a network of package models.
func New(module any, o ...compile.Option) (*Network, error) {
	for _, f := range constructors {
		if f.module == reflect.TypeOf(module) {
			c := f.compile(o...)
			return &Network{c, reflect.ValueOf(module), reflect.ValueOf(c).MethodByName("Call")}, nil
		}
	}
	return nil, fmt.Errorf("there is no compiled function of a %T", module)
}

// Call calls the compiled function of the module.
func (n *Network) Call(x ...*tensor.Tensor) []*tensor.Tensor {
	in := []reflect.Value{n.module}
	for _, a := range x {
		in = append(in, reflect.ValueOf(a))
	}
	var out []*tensor.Tensor
	for _, r := range n.call.Call(in) {
		out = append(out, r.Interface().(*tensor.Tensor))
	}
	return out
}

// constructor makes the compiled functions of a type.
type constructor struct {
	module  reflect.Type
	compile func(...compile.Option) Func
}

// of is the constructor of a generated one.
func of[C Func](compiled func(...compile.Option) C) constructor {
	call, _ := reflect.TypeFor[C]().MethodByName("Call")
	return constructor{call.Type.In(1), func(o ...compile.Option) Func { return compiled(o...) }}
}

var constructors = []constructor{
	of(CompileMLPForward),
	of(CompileResNetForward),
	of(CompileAlexNetForward),
	of(CompileVGGForward),
	of(CompileSqueezeNetForward),
	of(CompileGoogLeNetForward),
	of(CompileShuffleNetV2Forward),
	of(CompileRegNetForward),
	of(CompileConvNeXtForward),
	of(CompileDenseNetForward),
	of(CompileMobileNetV2Forward),
	of(CompileMobileNetV3Forward),
	of(CompileEfficientNetForward),
	of(CompileViTForward),
	of(CompileSwinForward),
	of(CompileQuantizedResNet18Forward),
	of(CompileTridentNetForward),
	of(CompileBlockDropForward),
	of(CompileFCNForward),
	of(CompileDeepLabV3Forward),
	of(CompileMonoDepthForward),
	of(CompileUNetForward),
	of(CompilePainterForward),
	of(CompileBertForward),
	of(CompileDistilBertForward),
	of(CompileDebertaForward),
	of(CompileAlignForward),
	of(CompileGPT2Forward),
	of(CompileLSTMForward),
	of(CompileLSTMCellsForward),
	of(CompileGRUForward),
	of(CompileAttnDecoderForward),
	of(CompileGreedyDecoderForward),
	of(CompileSegmentalLMForward),
	of(CompileDeepRecommenderForward),
	of(CompileDLRMForward),
}
