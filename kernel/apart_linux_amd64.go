package kernel

const sysGetcpu = 309
