// Package nets has compiled functions of networks, for the benchmark, and networks of papers that package models does not have, at
// the papers' sizes.
package nets

//go:generate go tool -modfile=../fxgen.mod fxgen compile -o fx_compile.go github.com/gofx-dev/gofx/models#ResNet github.com/gofx-dev/gofx/models#Bert github.com/gofx-dev/gofx/models#DenseNet github.com/gofx-dev/gofx/models#LSTM Align.Forward Encoder.Forward DeBERTa.Forward Seq2Seq.Forward MonoDepth.Forward Quantized.Forward TridentNet.Forward BlockDrop.Forward
