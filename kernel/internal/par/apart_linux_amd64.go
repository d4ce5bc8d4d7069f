package par

const sysGetcpu = 309
