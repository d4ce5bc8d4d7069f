// Package decode runs decoders of package models on the processor, for programs that generate
// text: prompts in blocks, then a token at a time, over a cache of fixed room that plans write in its place.
//
// It stands above models, fx and lowering/cpu. It knows token numbers and scores; models/tokens makes
// token numbers of texts, and models/sampling draws tokens of scores.
//
// Read decode.go first.
package decode
