// Package serve answers HTTP requests with a generated network that has one input
// and one result, floats with a symbolic first size.
//
// A request passes these stations: server.go admits it or refuses it, and reads
// its rows; batch.go computes them together with those of others; metrics.go counts.
// reload.go replaces the network while requests are being answered; conn.go tells clients
// that have gone from those that only wait.
package serve
