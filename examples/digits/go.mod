module example.com/digits

go 1.26

require (
	github.com/gofx-dev/gofx v0.0.0
	github.com/stretchr/testify v1.12.1
)

tool github.com/gofx-dev/gofx/cmd/fxgen

replace github.com/gofx-dev/gofx => ../..
