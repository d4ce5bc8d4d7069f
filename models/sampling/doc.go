// Package sampling draws the next token of a text from the scores that a decoder gives: the
// likeliest, or at random by the rules of language models (temperature, top-k, top-p,
// min-p, a penalty for repetition). Draws are repeatable: a seed, scores and rules give the
// same tokens on every machine and with every release of Go.
//
// The package stands below models, on package diag alone: it takes scores as a slice, so that
// any engine may compute them. It does not run networks and does not know texts (models/tokens).
//
// Read sampling.go first; ranking.go finds the likeliest tokens.
package sampling
