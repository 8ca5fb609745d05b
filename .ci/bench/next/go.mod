module clawbench/next

go 1.26.0

require (
	claw v0.0.0
	github.com/adhocore/gronx v1.20.4
	github.com/robfig/cron/v3 v3.0.1
)

replace claw => ../../..
