package heartbeat

// RunCheck is runCheck.
var RunCheck = runCheck

// CheckName is checkName.
var CheckName = checkName
