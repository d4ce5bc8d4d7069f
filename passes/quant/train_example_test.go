package quant_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes/quant"
)

// formOf applies a pass to a captured classifier that has the tensors of another one.
func formOf(p fx.Pass, of *fx.GraphModule) *fx.GraphModule {
	gm := captured()
	if of != nil {
		for _, q := range of.Params() {
			gm.SetParam(*q)
		}
	}
	if _, err := gm.Apply(context.Background(), []fx.Pass{p}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
	}
	return gm
}

var (
	trainConfig = &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	trainInput  = array.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 1, 8)
)

// trainedOnce is the graph that is trained after one step, which observes.
func trainedOnce() *fx.GraphModule {
	gm := formOf(quant.Train(trainConfig, cpu.QuantBackend(), quant.Training{Observe: 100}), nil)
	if _, err := gm.RunArrays(context.Background(), []*array.Array{trainInput}); err != nil {
		fmt.Println(err)
	}
	return gm
}

func ExampleTrain() {
	gm := trainedOnce()
	fmt.Println("steps:", array.Int64At(gm.Param("quant.steps").Value, 0))
	fmt.Println("seen of x:", array.Data[float64](gm.Param("quant.x.seen").Value))
	fmt.Println("learned of its scale:", array.Data[float32](gm.Param("quant.x.delta").Value))
	// Output:
	// steps: 1
	// seen of x: [1 8]
	// learned of its scale: [0]
}

func ExampleEvaluate() {
	gm := formOf(quant.Evaluate(trainConfig, cpu.QuantBackend()), trainedOnce())
	out, err := gm.RunArrays(context.Background(), []*array.Array{trainInput})
	fmt.Println(out[0].Shape(), err)
	// Output: [1 4] <nil>
}

func ExampleConvertTrained() {
	from := trainedOnce()
	ctx, in := context.Background(), []*array.Array{trainInput}
	evaluated, _ := formOf(quant.Evaluate(trainConfig, cpu.QuantBackend()), from).RunArrays(ctx, in)
	converted, _ := formOf(quant.ConvertTrained(trainConfig, cpu.QuantBackend()), from).RunArrays(ctx, in)
	fmt.Println(bytes.Equal(array.Bytes(evaluated[0]), array.Bytes(converted[0])))
	// Output: true
}
