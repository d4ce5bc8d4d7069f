package importer

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// noted is the error of a node whose errors are in the list.
var noted = diag.New(spec.CodeModel, "its body is refused")

// apply applies a meaning of the operator to the node.
func (c *control) apply(m *meaning) (outs []*rule.Datum, err *diag.Error) {
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(stopped); ok {
				outs, err = nil, noted
				return
			}
			if outs, err = nil, diag.Recovered(x); err.Code == spec.CodeValue && err.Hint == "" && err.Err == nil {
				err = c.im.CureBySizes(err)
			}
		}
	}()
	if m.control != nil {
		outs = m.control(c)
	} else {
		outs = c.Call.Apply(m.rule)
	}
	c.Claims(outs)
	c.UnknownAttrs()
	return outs, nil
}
