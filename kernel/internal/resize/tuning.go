package resize

// resizeChunks is the number of parts that interpolation is done in, each with a row of
// its own: enough for the threads that share a memory, and scratch does not depend on theirs.
const resizeChunks = 16
