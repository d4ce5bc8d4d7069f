module fxvet.test

go 1.26.0

require github.com/gofx-dev/gofx v0.0.0

replace github.com/gofx-dev/gofx => ../../../../..
