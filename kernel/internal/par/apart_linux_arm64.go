package par

const sysGetcpu = 168
