module github.com/gofx-dev/gofx/bench

go 1.26.0

require (
	github.com/ebitengine/purego v0.11.3
	github.com/gofx-dev/gofx v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.49.0
)

require (
	github.com/dave/jennifer v1.7.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/gofx-dev/gofx => ../
