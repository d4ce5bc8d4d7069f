// Package across calls compiled functions of another package.
package across

import (
	"github.com/gofx-dev/gofx/internal/effects/testdata/across/net"
	"github.com/gofx-dev/gofx/tensor"
)

func Variable(c *net.Counter, x *tensor.Tensor) *tensor.Tensor { return net.Step(c, x) }

func Argument(f *net.Compiled, c *net.Counter, x *tensor.Tensor) *tensor.Tensor { return f.Call(c, x) }

func Assigned(c *net.Counter, x *tensor.Tensor) *tensor.Tensor { return net.Late(c, x) }

func Public(x *tensor.Tensor) *tensor.Tensor { return net.Public(x) }

func Named(x *tensor.Tensor) *tensor.Tensor { return net.Named(nil, x) }

func Twice(x *tensor.Tensor) *tensor.Tensor { return net.Twice(nil, x) }

func Value(x *tensor.Tensor) *tensor.Tensor { return net.Value(nil, x) }

func Counts(f *net.Compiled) int { return f.Stats().Calls }
