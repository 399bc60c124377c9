# Each target is one line that calls cargo or a script.
.PHONY: demo test quick bench docs reproduce reproduce-quick

## The methods on data that comes with the program, beside a linear SVM.
demo:
	cargo run --release --locked --package widemargin-cli -- demo

## Everything that is checked: formatting, lints, tests, documentation.
test:
	./scripts/test

## What a new similarity or descriptor must pass, in about two minutes; writes what is made of its row.
quick:
	./scripts/quick

## Ourselves beside the peers (needs Python and CIFAR-10: see benchmarks/power_mean/README.md).
bench:
	python3 benchmarks/power_mean/run.py $(ARGS)

## The scripts that reproduce the papers: what each claims, takes and needs (ARGS='--all --data DATA' runs them).
reproduce:
	python3 reproduce/run.py $(ARGS)

## A small version of all of them (ARGS='--data DATA').
reproduce-quick:
	python3 reproduce/run.py --quick $(ARGS)

## The library's reference.
docs:
	cargo doc --no-deps --locked --workspace
