# npm.sh: for tests that take packages from npm: sourced, with `here` and `artefacts` set. Speaks TAP.

# skip REASON: one skipped test.
skip() {
    printf '1..1\nok 1 - npm # SKIP %s\n' "$1"
    exit 0
}

# fetch PACKAGE: what package.json beside the test names, once, into $artefacts; skips where npm cannot.
fetch() {
    command -v node >/dev/null || skip "there is no node"
    command -v npm >/dev/null || skip "there is no npm"
    lock=$here/package-lock.json
    if cmp -s "$lock" "$artefacts/package-lock.json" && [ -d "$artefacts/node_modules/$1" ]; then
        return
    fi
    cp "$here/package.json" "$lock" "$artefacts/"
    certificates=/etc/ssl/certs/ca-certificates.crt # what this machine trusts, which npm does not ask
    [ ! -r $certificates ] || export NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS-$certificates}"
    (cd "$artefacts" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$artefacts/npm.log" 2>&1 || {
        rm -f "$artefacts/package-lock.json"
        why=$(sed -n 's/^npm [a-zA-Z!]* \([a-z]\)/\1/p' "$artefacts/npm.log" | tail -n 1)
        skip "npm cannot fetch $1: $why"
    }
}

# Where packages and artefacts go: the folder given, or a temporary one.
choose_artefacts() {
    if [ -n "${1-}" ]; then
        mkdir -p "$1"
        artefacts=$(cd "$1" && pwd)
    else
        artefacts=$(mktemp -d)
        trap 'rm -rf "$artefacts"' EXIT
    fi
}
