package main

import (
	"context"

	"github.com/gofx-dev/gofx/array"

	"example.com/digits/digitsnet"
	"example.com/digits/dynamicnet"
	"example.com/digits/int4net"
	"example.com/digits/staticnet"
)

// Next to digitsnet: a drawing, for which Graphviz is compiled, and the packages of
// quantised graphs.

//go:generate go tool -modfile=fxgen.mod fxgen draw -o digits.svg -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go run ./calibration
//go:generate go tool -modfile=fxgen.mod fxgen quant -config static.json -calib calibration.npy -o quantised/static -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool -modfile=fxgen.mod fxgen quant -config dynamic.json -o quantised/dynamic -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool -modfile=fxgen.mod fxgen quant -config int4.json -o quantised/int4 -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool -modfile=fxgen.mod fxgen gen -o staticnet -package staticnet quantised/static
//go:generate go tool -modfile=fxgen.mod fxgen gen -o dynamicnet -package dynamicnet quantised/dynamic
//go:generate go tool -modfile=fxgen.mod fxgen gen -o int4net -package int4net quantised/int4

// classifier is the interface of every generated package.
type classifier interface {
	Forward(ctx context.Context, x array.Dense[float32]) (array.Dense[float32], error)
}

// generated is one of the packages that go generate wrote.
type generated struct {
	folder, form string
	config       string // request to fxgen quant, "" for floats
	load         func() (classifier, error)
}

func packages() []generated {
	return []generated{
		{"digitsnet", "float", "", func() (classifier, error) { return digitsnet.New() }},
		{"staticnet", "static int8", "static.json", func() (classifier, error) { return staticnet.New() }},
		{"dynamicnet", "dynamic int8", "dynamic.json", func() (classifier, error) { return dynamicnet.New() }},
		{"int4net", "int4", "int4.json", func() (classifier, error) { return int4net.New() }},
	}
}
