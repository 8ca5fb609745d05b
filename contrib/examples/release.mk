# A release in three steps that goes on where it was, whatever died meanwhile: this
# make, the terminal, the machine.
#
#	make -f release.mk release VERSION=1.4
#
# Put your own commands into do-check, do-build and do-publish. Run it again after a
# kill, a failure or a reboot: a step that is done is not done again, one that still
# runs is waited for and not started twice, and one that failed is tried again.
#
#	claw flow latest --controller release         how far it is
#	claw flow cancel ID                           give it up, with the step that runs
#
# How it knows. The flow is the record of the release, and outlives this make. Each
# step is a background command that has the flow's id among its words, and that
# makes itself a task of the flow before it begins: there is no moment at which a
# kill leaves work that is not found again.

CLAW    ?= claw
NAME    ?= release
VERSION ?= 0.0.0
STEPS   := check build publish

SELF   := $(abspath $(lastword $(MAKEFILE_LIST)))
STEP_DO = $(CLAW) flow run-task $(FLOW) --task "$$CLAW_PROCESS_ID" --label $(STEP) > /dev/null && exec make --no-print-directory -f $(SELF) do-$(STEP) VERSION=$(VERSION) FLOW=$(FLOW)
FIELD   = awk -F '\t' -v name=$(1) '$$1 == name { print $$2 }'
CHANGE  = --expect-revision "$$($(CLAW) flow get $(FLOW) | $(call FIELD,revision))"

.PHONY: release steps step do-check do-build do-publish

# The flow that has not ended, else a new one.
release:
	@flow=$$($(CLAW) flow latest --controller $(NAME) 2>/dev/null | awk -F '\t' '$$1 == "flow" { id = $$2 } $$1 == "ended" { id = "" } END { print id }'); \
	test -n "$$flow" || flow=$$($(CLAW) flow create --controller $(NAME) --goal 'release $(VERSION)' --status running) || exit; \
	exec $(MAKE) --no-print-directory -f $(SELF) steps FLOW=$$flow VERSION=$(VERSION)

steps:
	@for step in $(STEPS); do $(MAKE) --no-print-directory -f $(SELF) step STEP=$$step FLOW=$(FLOW) VERSION=$(VERSION) || exit; done; \
	$(CLAW) flow finish $(FLOW) $(CHANGE) --step done > /dev/null && echo "release $(VERSION) is out"

# One step: done, still running, or to be started.
step:
	@words='$(STEP_DO)'; \
	set -- $$($(CLAW) tasks list --all | awk -F '\t' -v words="$$words" '$$6 == words { print $$3, $$2; exit }'); \
	if test "$$1" = succeeded; then echo "$(STEP): done already"; exit; fi; \
	id=$$2; \
	if test "$$1" = running; then echo "$(STEP): runs already"; else id=$$($(CLAW) exec -b "$$words") || exit; fi; \
	$(CLAW) flow resume $(FLOW) $(CHANGE) --status running --step $(STEP) > /dev/null || exit; \
	$(CLAW) process wait $$id && echo "$(STEP): done" && exit; \
	$(CLAW) flow wait $(FLOW) $(CHANGE) --blocked-summary '$(STEP) failed: claw tasks log '$$id > /dev/null; \
	exit 1

do-check:
	@echo "checking $(VERSION)"

do-build:
	@echo "building $(VERSION)"

do-publish:
	@echo "publishing $(VERSION)"
