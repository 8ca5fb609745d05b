package process

import "strings"

// envClass is what is done about a variable.
type envClass int

const (
	free     envClass = iota // nothing
	core                     // refused as an override, dropped when inherited
	override                 // refused as an override, inherited as it is
)

// classOf is the one table of variables that decide what code runs or whom it
// trusts; name is trimmed and in upper case. Where
// spec/exec-process.md 1.5 names a class and gives examples, close relatives
// are added.
func classOf(name string) envClass {
	if class := classOfPrefix(name); class != free {
		return class
	}
	switch name {
	case "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONHOME", "RUBYLIB", "PERL5LIB",
		"BASH_ENV", "ENV", "GCONV_PATH", "IFS", "SSLKEYLOGFILE":
		return core
	case "PATH", "HOME":
		return override
	// How shells behave.
	case "SHELL", "SHELLOPTS", "PS4", "BASHOPTS", "KSH_ENV", "FPATH", "ZDOTDIR":
		return override
	// Hooks of interpreters and of the C library.
	case "PERL5OPT", "RUBYOPT",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
		"PYTHONBREAKPOINT", "PYTHONSTARTUP", "PYTHONUSERBASE",
		"DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS",
		"GLIBC_TUNABLES", "TCLLIBPATH", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR", "OPENSSL_CONF", "OPENSSL_MODULES":
		return override
	}
	return classOfTool(name)
}

// classOfTool is the part of the table about tools a command calls.
func classOfTool(name string) envClass {
	switch name {
	// Where git looks and what it runs.
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG",
		"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS":
		return override
	// Compilers, and options a build takes from the environment.
	case "CC", "CXX", "CPP", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
		"CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER",
		"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAVEN_OPTS", "GRADLE_OPTS", "ANT_OPTS", "SBT_OPTS":
		return override
	// Files that hold or select credentials.
	case "KUBECONFIG", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
		"GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CONFIG_DIR", "XDG_CONFIG_HOME":
		return override
	case "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE":
		return override
	// Who is on the other end.
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
		"NODE_TLS_REJECT_UNAUTHORIZED", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY":
		return override
	// Where packages come from.
	case "GOPATH", "GOPROXY", "GOFLAGS", "GOSUMDB", "VIRTUAL_ENV":
		return override
	}
	return free
}

func classOfPrefix(name string) envClass {
	for _, p := range [...]string{"LD_", "DYLD_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, p) {
			return core
		}
	}
	for _, p := range [...]string{"GIT_CONFIG_", "NPM_CONFIG_", "CARGO_REGISTRIES_", "PIP_", "UV_", "DOCKER_"} {
		if strings.HasPrefix(name, p) {
			return override
		}
	}
	if strings.HasPrefix(name, "CMAKE_") && strings.HasSuffix(name, "_COMPILER") {
		return override
	}
	return free
}
