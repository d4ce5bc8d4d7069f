package kernel

const sysGetcpu = 168
