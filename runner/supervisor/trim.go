package supervisor

// TrimMemory makes a program that will sleep for long small: unused heap and
// the pages of the program itself go back to the system.
func TrimMemory() { trimMemory() }
