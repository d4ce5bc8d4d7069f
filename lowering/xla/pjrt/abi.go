package pjrt

import "unsafe"

// The interface is a table of functions "error *f(args *)". Every struct begins with its
// own size in bytes and a pointer to extensions, which is nil here. Handles are opaque
// and kept as numbers; what C writes and Go reads through is an unsafe.Pointer, so that no
// number is ever made a pointer.
//
// A plugin takes structs that are longer than it knows and refuses those that are shorter. Later
// versions append fields, of which 0 means none: every struct ends in room for them, so that
// plugins which are newer than this layout take it, too.

// The versions of the interface that are known to have the layout below: of major version
// 0, from the first one with ExecuteOptions.non_donatable_input_indices and with the
// functions that tell the types of results. Later minor versions only add.
const (
	apiMajor    = 0
	apiMinMinor = 40
)

// head begins every struct.
type head struct {
	size uintptr
	_    unsafe.Pointer // extension_start
}

// room is what later versions may append to a struct.
type room [6]uintptr

// apiTable is the beginning of PJRT_Api; functions follow it.
type apiTable struct {
	head
	_            head // of the version, a struct itself
	major, minor int32
}

// fn is the place of a function after apiTable.
type fn int

// The functions that are called, by their places. The places between are those of
// functions that are not.
const (
	fnErrorDestroy          fn = 0
	fnErrorMessage          fn = 1
	fnErrorGetCode          fn = 2
	fnPluginInitialize      fn = 3
	fnPluginAttributes      fn = 4
	fnEventDestroy          fn = 5
	fnEventIsReady          fn = 6
	fnEventAwait            fn = 8
	fnClientCreate          fn = 10
	fnClientDestroy         fn = 11
	fnClientPlatformName    fn = 12
	fnClientPlatformVersion fn = 14
	fnClientDevices         fn = 15
	fnClientCompile         fn = 20
	fnClientBufferFromHost  fn = 22
	fnDescriptionID         fn = 23
	fnDescriptionProcess    fn = 24
	fnDescriptionAttributes fn = 25
	fnDescriptionKind       fn = 26
	fnDescriptionString     fn = 28
	fnDeviceDescription     fn = 29
	fnDeviceIsAddressable   fn = 30
	fnDeviceMemories        fn = 32
	fnDeviceMemoryStats     fn = 34
	fnMemoryID              fn = 35
	fnMemoryKind            fn = 36
	fnExecutableDestroy     fn = 40
	fnExecutableName        fn = 41
	fnExecutableNumOutputs  fn = 44
	fnExecutableOptimized   fn = 48
	fnExecutableSerialize   fn = 49
	fnLoadedDestroy         fn = 50
	fnLoadedGetExecutable   fn = 51
	fnLoadedDevices         fn = 52
	fnLoadedExecute         fn = 55
	fnDeserializeAndLoad    fn = 56
	fnBufferDestroy         fn = 58
	fnBufferElementType     fn = 59
	fnBufferDimensions      fn = 60
	fnBufferToHost          fn = 70
	fnExecutableOutputTypes fn = 90
	fnExecutableOutputDims  fn = 91
	fnExecutableMemory      fn = 96
	tableFunctions             = 97
	tableSize                  = unsafe.Sizeof(apiTable{}) + tableFunctions*unsafe.Sizeof(uintptr(0))
	minTableSize               = unsafe.Sizeof(apiTable{}) + (uintptr(fnBufferToHost)+1)*unsafe.Sizeof(uintptr(0))
)

// fnNames are the names of the functions, for messages.
var fnNames = map[fn]string{
	fnErrorDestroy: "PJRT_Error_Destroy", fnErrorMessage: "PJRT_Error_Message", fnErrorGetCode: "PJRT_Error_GetCode",
	fnPluginInitialize: "PJRT_Plugin_Initialize", fnPluginAttributes: "PJRT_Plugin_Attributes",
	fnEventDestroy: "PJRT_Event_Destroy", fnEventIsReady: "PJRT_Event_IsReady", fnEventAwait: "PJRT_Event_Await",
	fnClientCreate: "PJRT_Client_Create", fnClientDestroy: "PJRT_Client_Destroy", fnClientPlatformName: "PJRT_Client_PlatformName",
	fnClientPlatformVersion: "PJRT_Client_PlatformVersion", fnClientDevices: "PJRT_Client_Devices",
	fnClientCompile: "PJRT_Client_Compile", fnClientBufferFromHost: "PJRT_Client_BufferFromHostBuffer",
	fnDescriptionID: "PJRT_DeviceDescription_Id", fnDescriptionProcess: "PJRT_DeviceDescription_ProcessIndex",
	fnDescriptionAttributes: "PJRT_DeviceDescription_Attributes", fnDescriptionKind: "PJRT_DeviceDescription_Kind",
	fnDescriptionString: "PJRT_DeviceDescription_ToString", fnDeviceDescription: "PJRT_Device_GetDescription",
	fnDeviceIsAddressable: "PJRT_Device_IsAddressable", fnDeviceMemories: "PJRT_Device_AddressableMemories",
	fnDeviceMemoryStats: "PJRT_Device_MemoryStats", fnMemoryID: "PJRT_Memory_Id", fnMemoryKind: "PJRT_Memory_Kind",
	fnExecutableDestroy: "PJRT_Executable_Destroy", fnExecutableName: "PJRT_Executable_Name", fnExecutableNumOutputs: "PJRT_Executable_NumOutputs",
	fnExecutableOptimized: "PJRT_Executable_OptimizedProgram", fnExecutableMemory: "PJRT_Executable_GetCompiledMemoryStats",
	fnExecutableSerialize: "PJRT_Executable_Serialize", fnDeserializeAndLoad: "PJRT_Executable_DeserializeAndLoad",
	fnLoadedDestroy: "PJRT_LoadedExecutable_Destroy", fnLoadedGetExecutable: "PJRT_LoadedExecutable_GetExecutable",
	fnLoadedDevices: "PJRT_LoadedExecutable_AddressableDevices", fnLoadedExecute: "PJRT_LoadedExecutable_Execute",
	fnBufferDestroy: "PJRT_Buffer_Destroy", fnBufferElementType: "PJRT_Buffer_ElementType", fnBufferDimensions: "PJRT_Buffer_Dimensions",
	fnBufferToHost: "PJRT_Buffer_ToHostBuffer", fnExecutableOutputTypes: "PJRT_Executable_OutputElementTypes",
	fnExecutableOutputDims: "PJRT_Executable_OutputDimensions",
}

// Many functions take structs of the same form: an object and one or two results.
type (
	// objectArgs: an object. Destroy, Await; Plugin_Initialize reads the head alone.
	objectArgs struct {
		head
		object uintptr
		_      room
	}
	// flagArgs: an object, and a truth out.
	flagArgs struct {
		head
		object uintptr
		flag   uint8
		_      room
	}
	// intArgs: an object, and a C int or enum out.
	intArgs struct {
		head
		object uintptr
		n      int32
		_      room
	}
	// wordArgs: an object, and a handle or size_t out.
	wordArgs struct {
		head
		object uintptr
		word   uintptr
		_      room
	}
	// listArgs: an object, and a text or list out, whose memory is the object's.
	listArgs struct {
		head
		object uintptr
		data   unsafe.Pointer
		n      uintptr
		_      room
	}
	// countedArgs is listArgs with the number first.
	countedArgs struct {
		head
		object uintptr
		n      uintptr
		data   unsafe.Pointer
		_      room
	}
)

// attributesArgs is PJRT_Plugin_Attributes_Args: no object.
type attributesArgs struct {
	head
	data unsafe.Pointer
	n    uintptr
	_    room
}

// namedValue is PJRT_NamedValue; word is a union of a pointer, an int64, a float and a
// bool, kept as a number because the collector must not take an integer for a pointer.
type namedValue struct {
	head
	name     unsafe.Pointer
	nameSize uintptr
	kind     int32
	word     uint64
	n        uintptr
}

type createArgs struct {
	head
	options       unsafe.Pointer
	numOptions    uintptr
	_, _, _, _    uintptr // key-value store of many processes: none
	client        uintptr // out
	tryGet, tryOf uintptr
	_             room
}

type program struct {
	head
	code       unsafe.Pointer
	codeSize   uintptr
	format     unsafe.Pointer
	formatSize uintptr
	_          room
}

type compileArgs struct {
	head
	client      uintptr
	program     *program
	options     unsafe.Pointer
	optionsSize uintptr
	executable  uintptr // out
	_           room
}

type fromHostArgs struct {
	head
	client    uintptr
	data      unsafe.Pointer
	kind      int32
	dims      unsafe.Pointer
	numDims   uintptr
	strides   unsafe.Pointer // nil: dense, row-major
	numStride uintptr
	semantics int32
	device    uintptr
	memory    uintptr // 0: the device's own
	layout    unsafe.Pointer
	done      uintptr // out: event, when data is read no more
	buffer    uintptr // out
	_         room
}

// untilTransferred is PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes.
const untilTransferred = 1

// layout is PJRT_Buffer_MemoryLayout of the kind "tiled", which is a permutation of the
// dimensions, the last one that varies fastest first, and tiles, here none.
type layout struct {
	head
	tiled tiled
	kind  int32 // 0: tiled
	_     room
}

type tiled struct {
	head
	minorToMajor unsafe.Pointer
	n            uintptr
	_, _, _      uintptr // tiles: none
}

type toHostArgs struct {
	head
	buffer uintptr
	layout *layout
	data   unsafe.Pointer
	n      uintptr
	event  uintptr // out
	_      room
}

// executeOptions is PJRT_ExecuteOptions as of 0.97.
type executeOptions struct {
	head
	_, _, _, _       uintptr        // send and receive callbacks: none
	_                int32          // launch id
	keep             unsafe.Pointer // inputs that must not be donated
	numKeep          uintptr
	_, _, _, _, _, _ uintptr // context, call location, tasks, incarnations, slices: none
	_                room
}

type executeArgs struct {
	head
	executable uintptr
	options    *executeOptions
	arguments  unsafe.Pointer // a list of lists of buffers, by device
	devices    uintptr
	n          uintptr
	outputs    unsafe.Pointer // likewise; out
	events     unsafe.Pointer // one a device; out
	device     uintptr        // 0: those of the compilation
	_          room
}

type serializeArgs struct {
	head
	executable uintptr
	data       unsafe.Pointer // the rest is the plugin's
	n          uintptr
	serialized uintptr // what data lies in
	free       uintptr // a function of it
	_          room
}

type deserializeArgs struct {
	head
	client     uintptr
	data       unsafe.Pointer
	n          uintptr
	executable uintptr // out
	_          room
}

type optimizedArgs struct {
	head
	executable uintptr
	program    *program // out: sizes where it has no code, else the code
	_          room
}

// compiledMemoryArgs is PJRT_Executable_GetCompiledMemoryStats_Args; the host's memory is left out.
type compiledMemoryArgs struct {
	head
	executable                            uintptr
	code, arguments, outputs, alias, temp int64 // out
	_, _, _, _, _                         int64
	peak                                  int64 // since 0.72
	_                                     room
}

type outputDimsArgs struct {
	head
	executable uintptr
	n          uintptr
	dims       unsafe.Pointer // of all outputs, one after the other
	ranks      unsafe.Pointer
	_          room
}

type optional struct {
	n  int64
	is uint8
}

type memoryStatsArgs struct {
	head
	device                                      uintptr
	inUse                                       int64
	peak, allocations, largest, limit, reserved optional
	peakReserved, reservable, free              optional
	pool, peakPool                              optional
	_                                           room
}
