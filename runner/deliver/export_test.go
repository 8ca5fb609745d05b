package deliver

// Forget lets a test go on as another process: what this one knew of an
// attempt is gone.
func Forget(id string) { flying.forget(id) }
