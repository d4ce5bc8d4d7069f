// Package nets has compiled functions of networks, for the benchmark.
package nets

//go:generate go tool -modfile=../fxgen.mod fxgen compile -o fx_compile.go github.com/gofx-dev/gofx/models#ResNet github.com/gofx-dev/gofx/models#Bert github.com/gofx-dev/gofx/models#DenseNet github.com/gofx-dev/gofx/models#LSTM
