# The two commands of EdgePlane, `make test` and `make demo`, and what belongs beside them.

.DEFAULT_GOAL := help
.PHONY: help demo test endure bench

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build EdgePlane and show it at work.
	@scripts/demo.sh

test: ## Run every check and every test.
	@scripts/test.sh

endure: ## Run the checks that kill and flood in full, for half an hour.
	@scripts/endure.sh

bench: ## Measure EdgePlane on this machine.
	@scripts/setup.sh && . scripts/environment.sh && cargo xtask bench
