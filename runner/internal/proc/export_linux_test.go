package proc

// ParseStat is the parser of /proc/PID/stat.
var ParseStat = parseStat
