package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"claw/cmd/claw/internal/config"
	"claw/runner/recovery"
)

const configFix = "edit it, then claw config check"

// configFindings are what is wrong with the configuration, and with what it
// names on this machine. wrong is why it could not be read.
func (a *app) configFindings(cfg *config.Config, wrong error) (found []recovery.Finding) {
	found = append(found, problems("config_invalid", wrong)...)
	if set, err := a.prompts(); err != nil {
		found = append(found, problems("prompt_invalid", err)...)
	} else {
		for _, e := range set.Check() {
			found = append(found, recovery.Found("prompt_invalid", "prompts", e.Error(), "claw config check"))
		}
	}
	if wrong != nil {
		return found
	}
	found = append(found, problems("automation_table", a.declaredError(cfg))...)
	for _, w := range cfg.Warnings {
		found = append(found, recovery.Found("config_odd", placeOf(w), w.Text, configFix))
	}
	for _, w := range cfg.Check(a.getenv("PATH")) {
		if code := codeOfWarning(w.Key); code != "" {
			found = append(found, recovery.Found(code, placeOf(w), w.Text, fixOfWarning(code)))
		}
	}
	return append(append(found, a.channelFindings(cfg)...), tokenFindings(cfg)...)
}

// problems takes an error apart that may be several.
func problems(code string, err error) (found []recovery.Finding) {
	if bad, ok := errors.AsType[*config.Error](err); ok {
		for _, p := range bad.Problems {
			where := p.File
			if p.Line > 0 {
				where += ":" + itoa(p.Line)
			}
			text := p.Rule
			if p.Key != "" {
				text = p.Key + ": " + text
			}
			if p.Nearest != "" {
				text += "; did you mean " + p.Nearest + "?"
			}
			found = append(found, recovery.Found(code, where, text, configFix))
		}
		return found
	}
	if err != nil {
		found = append(found, recovery.Found(code, "configuration", err.Error(), "claw config check"))
	}
	return found
}

func placeOf(w config.Warning) string {
	if w.Source.Kind == config.FromFile {
		return w.Source.String() + " " + w.Key
	}
	return w.Source.String()
}

// codeOfWarning is the code of what is missing on this machine, by the key that
// names it; empty: it is looked at otherwise.
func codeOfWarning(key string) string {
	switch {
	case strings.HasSuffix(key, "before_agent_run"):
		return "hook_program"
	case strings.HasPrefix(key, "channels."):
		return "" // see channelFindings
	case strings.HasSuffix(key, ".workdir"):
		return "agent_workdir"
	case strings.HasPrefix(key, "agents.") && (strings.HasSuffix(key, ".command") || strings.HasSuffix(key, ".recover")):
		return "agent_program"
	case strings.HasPrefix(key, "automation"):
		return "automation_program"
	}
	return "config_odd"
}

func fixOfWarning(code string) string {
	switch code {
	case "agent_program", "hook_program", "automation_program":
		return "install it, write its whole path, or set tools.exec.pathPrepend"
	case "agent_workdir":
		return "mkdir -p it, or change workdir"
	}
	return configFix
}

// channelFindings tells of channels that are configured and cannot be used.
func (a *app) channelFindings(cfg *config.Config) (found []recovery.Finding) {
	post := a.post(cfg, nil, a.io.Out)
	for _, name := range cfg.Channels.Names() {
		if why := post.Ready(name); why != "" {
			found = append(found, recovery.Found("channel_not_ready", "channels."+name, why, "claw channels test "+name+", when that has been seen to"))
		}
	}
	return found
}

// tokenFindings tells of files of tokens that cannot be used, and of those that
// others can read.
func tokenFindings(cfg *config.Config) (found []recovery.Finding) {
	type tokenFile struct {
		key, file string
		used      bool
	}
	files := []tokenFile{
		{"cron.webhookTokenFile", cfg.Cron.WebhookTokenFile, true},
		{"hooks.tokenFile", cfg.Hooks.TokenFile, cfg.Hooks.Enabled || cfg.IsSet("hooks.tokenFile")},
	}
	for _, m := range cfg.Hooks.Mappings {
		files = append(files, tokenFile{"hooks.mappings." + m.Name + ".secretFile", m.Secret, true})
	}
	for _, f := range files {
		if f.file == "" || !f.used {
			continue
		}
		if what, fix := tokenTrouble(f.file); what != "" {
			found = append(found, recovery.Found("token_file", f.key, f.file+": "+what, fix))
		}
	}
	return found
}

func tokenTrouble(file string) (what, fix string) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist", "(umask 077; openssl rand -hex 32 > " + file + ")"
	case err != nil:
		return err.Error(), "ls -l " + file
	case !info.Mode().IsRegular():
		return "it is no file", "(umask 077; openssl rand -hex 32 > " + file + ")"
	case info.Mode().Perm()&0o077 != 0:
		return "others can read it", "chmod 600 " + file
	}
	text, err := os.ReadFile(file)
	first, _, _ := strings.Cut(string(text), "\n")
	switch {
	case err != nil:
		return "it cannot be read", "chmod 600 " + file
	case strings.TrimSpace(first) == "":
		return "its first line is empty", "(umask 077; openssl rand -hex 32 > " + file + ")"
	}
	return "", ""
}

// unstartable are the agents and channels whose programs are not in a PATH.
func unstartable(cfg *config.Config, path string) (keys []string) {
	for _, w := range cfg.Check(path) {
		if strings.HasPrefix(w.Key, "agents.") || strings.HasPrefix(w.Key, "channels.") {
			keys = append(keys, w.Key+" ("+w.Text+")")
		}
	}
	return keys
}
