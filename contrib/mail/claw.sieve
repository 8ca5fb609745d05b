# ~/.dovecot.sieve with Pigeonhole: what is about invoices goes to the agent main, and to the mailbox as before.
#
# sieve_extprograms runs only what is in sieve_pipe_bin_dir: put claw-mail there, and `sieve_plugins = sieve_extprograms` and
# `sieve_extensions = +vnd.dovecot.pipe` into dovecot's configuration.
require ["copy", "vnd.dovecot.pipe"];

if header :contains "subject" "invoice" {
	pipe :copy :try "claw-mail" ["main", "invoices"];
}
