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
// trusts; name is trimmed and in upper case. Names of our own choosing fill the
// classes of which spec/exec-process.md 1.5 gives examples.
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
	case "SHELL", "SHELLOPTS", "PS4", "BASHOPTS", "KSH_ENV", "FPATH", "ZDOTDIR", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE":
		return override
	// Hooks of interpreters and of the C library.
	case "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYSHELL", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "CLASSPATH",
		"PYTHONBREAKPOINT", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE", "PYTHONEXECUTABLE",
		"DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "COR_PROFILER", "CORECLR_PROFILER",
		"GLIBC_TUNABLES", "TCLLIBPATH", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR",
		"R_PROFILE", "R_ENVIRON", "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "OPENSSL_CONF", "OPENSSL_MODULES",
		"DENO_DIR", "BUN_OPTIONS", "GTK_MODULES", "GIO_MODULE_DIR", "QT_PLUGIN_PATH":
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
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "SSH_AUTH_SOCK":
		return override
	// Compilers, and options a build takes from the environment.
	case "CC", "CXX", "CPP", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC", "RUSTFLAGS",
		"CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_HOME",
		"MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAVEN_OPTS", "GRADLE_OPTS", "ANT_OPTS", "SBT_OPTS":
		return override
	// Files that hold or select credentials.
	case "KUBECONFIG", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "NETRC", "GNUPGHOME", "XDG_CONFIG_HOME":
		return override
	case "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER":
		return override
	// Who is on the other end.
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
		"NODE_TLS_REJECT_UNAUTHORIZED", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY":
		return override
	// Where packages come from.
	case "GOPATH", "GOPROXY", "GOFLAGS", "GOENV", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "VIRTUAL_ENV", "CONDA_PREFIX":
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
