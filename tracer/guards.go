package tracer

import "github.com/gofx-dev/gofx/shape"

// Require implements tensor.Requirer: what the program states of sizes becomes a
// guard.
func (t *trace) Require(r shape.Relation) { t.cur.Graph().Require(r, nil) }
