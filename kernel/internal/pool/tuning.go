package pool

// meanRows is the number of planes that meanPlanes takes together: as many sums as hide
// how long each takes. Windows slide over tiles of seven rows, which package geom has.
const meanRows = 4
