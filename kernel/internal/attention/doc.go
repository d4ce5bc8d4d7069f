// Package attention computes softmax(scale·q·kᵀ + mask)·v without holding the scores:
// a block of queries, one a lane (two vectors of them), meets the keys in tiles of 64,
// with running maxima and sums (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018; Dao et al., "FlashAttention", 2022).
//
// Sums of scores stay in registers while one head dimension after the other is read;
// the queries, the scores of a tile and the mixed values of the block stay in the
// first cache or the second, and keys and values come by tiles. Up to four queries are
// computed query by query instead: they read keys and values once and are bound by
// memory, many by multiply-adds and exponentials. Keys and values in blocks of bytes
// have tiles of their own, bytes.go. Read attention.go first.
package attention
