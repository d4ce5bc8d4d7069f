package cuda

// status is a CUresult; 0 is success.
type status uint32

const (
	success        status = 0
	outOfMemory    status = 2
	deinitialized  status = 4
	noDevice       status = 100
	unsupportedPTX status = 222
)

// losing are the results after which a context can only be destroyed: CUDA calls them
// sticky, since every later call returns them, too (CUDA Driver API, "Data types used by
// CUDA driver", CUresult: those that leave the process in an inconsistent state, and those
// of a card that is gone).
var losing = map[status]bool{
	deinitialized: true,
	46:            true, // device unavailable
	201:           true, // invalid context: ours was destroyed behind our back
	214:           true, // uncorrectable ECC error
	220:           true, // uncorrectable NVLink error
	700:           true, // illegal address
	702:           true, // launch timed out
	709:           true, // context is destroyed
	710:           true, // assert in a kernel
	714:           true, // hardware stack error
	715:           true, // illegal instruction
	716:           true, // misaligned address
	717:           true, // invalid address space
	718:           true, // invalid program counter
	719:           true, // launch failed
	807:           true, // MPS server is not ready
	810:           true, // MPS client was terminated
	999:           true, // unknown
}
