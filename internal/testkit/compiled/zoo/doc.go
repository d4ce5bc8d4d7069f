// Package zoo has small networks of the kinds that MagPy was measured on, written as their authors' users write them:
// branches on fields, lists of layers, fields that a call writes. Tests compile their calls.
//
// The constructors are generated.
package zoo

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go Align.Forward DeBERTa.Forward MonoDepth.Forward DenseNet.Forward Quantized.Forward TridentNet.Forward BlockDrop.Forward AttnDecoder.Forward GreedyDecoder.Forward
