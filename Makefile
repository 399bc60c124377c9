# Each target is one line that calls cargo or a script.
.PHONY: demo test quick bench docs reproduce reproduce-quick

## The methods on built-in data, compared with a linear SVM.
demo:
	cargo run --release --locked --package widemargin-cli --no-default-features -- demo

## All checks: formatting, lints, tests, documentation.
test:
	./scripts/test

## What a new similarity or descriptor must pass, in about two minutes; writes what is made of its row.
quick:
	./scripts/quick

## Benchmarks against other tools (need Python and CIFAR-10: see benchmarks/power_mean/README.md).
bench:
	python3 benchmarks/power_mean/run.py $(ARGS)

## Lists the scripts that reproduce the papers, with claim, time and data (ARGS='--all --data DATA' runs them).
reproduce:
	python3 reproduce/run.py $(ARGS)

## Runs a small version of all scripts, on synthetic data (ARGS='--data DATA': on the real data).
reproduce-quick:
	python3 reproduce/run.py --quick $(ARGS)

## The site, in target/docs/html: guide, gallery, reference of Python and Rust (ARGS=--no-rust leaves the latter out).
docs:
	./scripts/docs $(ARGS)
