package mapfile

const mapFlags = 0
