// Package array holds dense n-dimensional data: an element type, a concrete
// shape, strides and a storage that views share. It owns views, copies, casts and
// the limits of memory.
//
// It is one of the lowest rooms, and generated code imports it, so it uses no fmt and
// no reflection. It knows nothing of symbols (package shape has the symbolic side),
// operators or graphs, and does not compute: that is kernel's. Read array.go first.
package array
