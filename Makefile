# What people do here, in one word each; `make help` lists it. The build itself is described in
# meson.build, and whatever takes more than a line lives in scripts/, tests/ and bench/.

PREFIX       ?= /usr/local
DESTDIR      ?=
BUILD        ?= build
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := all
.PHONY: all help setup demo check check-all check-rest check-fresh package check-ocaml5 check-arm64 check-wild check-fleet bench fuzz install uninstall format clean

all: $(BUILD)/build.ninja ## build the command and the libraries, in build/
	@ninja -C $(BUILD)

# Meson knows the folder of Debian's libraries only where packages are made; each compiler does.
$(BUILD)/build.ninja:
	@scripts/setup --missing build
	@meson setup $(BUILD) --prefix="$(PREFIX)" -Dtests=auto \
	    $$(gcc -print-multiarch 2>/dev/null | sed -n 's,..*,--libdir=lib/&,p')

help: ## say this
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

setup: ## install the Debian packages that building and testing take
	@scripts/setup build check

demo: ## set up, build, record a real program, show where it allocates
	@scripts/setup build
	@scripts/demo

check: ## set up, build, run all tests that one build can tell
	@scripts/setup build check
	@tests/run check

check-all: ## the same, and sanitizers, clang, a browser, other Debians, real programs
	@scripts/setup build check check-all
	@tests/run all

check-rest: ## what check-all has in addition, behind a `make check`
	@scripts/setup build check check-all
	@tests/run --after rest

check-fresh: ## what the README says, in bare trees of Debian 12 and 13
	@scripts/check-fresh

package: ## build Debian packages and an archive that runs from any folder, in out/packages/
	@scripts/setup build package
	@scripts/package

check-ocaml5: ## the tests of OCaml programs, in a Debian tree with OCaml 5.3
	@scripts/setup build check check-all
	@tests/run ocaml5

check-arm64: ## unit tests and recordings on arm64, under qemu
	@scripts/setup build check check-all arm64
	@tests/run arm64

check-wild: all ## record what real programs are installed, compare them with themselves
	@tests/wild/wild.py --build $(BUILD)

check-fleet: ## Parquet files by DuckDB, pyarrow and Spark; pushing, by the Collector and Pyroscope
	@scripts/setup build check check-all
	@CHECK_PYROSCOPE=1 tests/run fleet

bench: ## set up, build what users install, measure (the machine should be quiet)
	@scripts/setup build bench
	@bench/run

fuzz: ## run each fuzzer; FUZZ_SECONDS=60 in all
	@scripts/setup build check check-all
	@scripts/fuzz $(FUZZ_SECONDS)

install: ## install under PREFIX=/usr/local, below DESTDIR if given
	@DESTDIR="$(DESTDIR)" scripts/install $(BUILD) "$(PREFIX)"

uninstall: ## remove what the last `make install` put into place
	@scripts/install --remove $(BUILD)

format: ## lay out all C and C++ sources
	@git ls-files '*.c' '*.h' '*.cc' '*.cpp' | xargs clang-format -i

clean: ## remove everything that was built
	@rm -rf $(BUILD) out
