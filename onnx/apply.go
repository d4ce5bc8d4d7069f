package onnx

import (
	"github.com/gofx-dev/gofx/diag"
)

// noted is the error of a node whose errors are in the list.
var noted = diag.New(CodeModel, "its body is refused")

// apply applies a meaning of the operator to the node.
func (c *control) apply(m *meaning) (outs []*value, err *diag.Error) {
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(stopped); ok {
				outs, err = nil, noted
				return
			}
			if outs, err = nil, diag.Recovered(x); err.Code == CodeValue && err.Hint == "" && err.Err == nil {
				err = c.im.sized(err)
			}
		}
	}()
	if m.control != nil {
		outs = m.control(c)
	} else {
		outs = c.call.apply(m.rule)
	}
	c.claims(outs)
	c.unknownAttrs()
	return outs, nil
}
