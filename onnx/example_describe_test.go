package onnx_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/onnx"
)

// The file's information on its model.
func ExampleFile_Describe() {
	// ir_version 8, producer_name "pytorch", producer_version "2.1", a graph "g" whose
	// documentation is "Doubles.", and operator set 17.
	model := "\x08\x08\x12\x07pytorch\x1a\x032.1" + ":\x0d\x12\x01gR\x08Doubles." + "B\x02\x10\x11"
	f, err := onnx.Parse([]byte(model), "net.onnx")
	if err != nil {
		panic(err)
	}
	d := f.Describe()
	fmt.Println(d.Name, d.Doc)
	fmt.Println(d.Origin())
	// Output:
	// g Doubles.
	// by pytorch 2.1, operator set 17
}
