// Package attention computes softmax(scale·q·kᵀ + mask)·v without holding the scores: a
// block of
// queries meets the keys tile by tile, with running maxima and sums (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
// "FlashAttention", 2022). Lanes are queries. Few queries read keys and values once and
// are bound by memory, many by multiply-adds and exponentials. Read attention.go first.
package attention
