// Package pack holds what a compiler has made of programs ahead of time, by the source that it
// was made of, so that a machine needs no compiler. It knows neither devices nor what an image
// is. Read pack.go first.
package pack
