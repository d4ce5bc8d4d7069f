// Package source prints kernels: C that is OpenCL C and CUDA C alike, through the macros of
// the prelude. A kernel is printed for known sizes and strides, which are numbers in its text,
// so that equal calls have equal text and are compiled once.
//
// It builds and runs nothing and knows neither graphs nor operators: elementwise meaning
// comes as an expr.Graph. Read kernel.go first; prelude.go says what the macros mean.
package source
