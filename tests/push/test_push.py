#!/usr/bin/python3
"""Records a service whose profiles are pushed to receivers that take them, and to some that do not.
Prints TAP.

    test_push.py ALLOTRACE RECORDER SERVICE [TEST...]
"""
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import types
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import receiver as make  # noqa: E402
import tap  # noqa: E402
import wire  # noqa: E402
from recording import patiently  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, RECORDER, SERVICE = map(os.path.abspath, sys.argv[1:4])
ROUND = 110 * 1008  # bytes, with the allocator's header
KEPT = 10 * 1008


def start(url, *arguments, rounds=10, pause=50, options=("-r", "1"), env=None, service=()):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("MEMTRACE", "LD_PRELOAD", "OTEL_"))} | (env or {})
    env["ALLOTRACE_PRELOAD"] = RECORDER
    return subprocess.Popen([ALLOTRACE, "run", "-o", "x.ctf", *options, "--push", url, "--every",
                             "200ms", *arguments, "--", SERVICE, str(rounds), str(pause), *service],
                            env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(url, *arguments, timeout=120, **how):
    """Standard error of a run, which must end as the service does."""
    with start(url, *arguments, **how) as process:
        try:
            said = process.communicate(timeout=timeout)[1]
        finally:
            process.kill()
    assert process.returncode == 0, said
    return said


def run_until(condition, url, *arguments, **how):
    """Standard error of a run whose service goes on until then, and how many rounds that were."""
    go = pathlib.Path("enough")
    go.unlink(missing_ok=True)
    with start(url, *arguments, env={"SERVICE_AWAITS": str(go)}, **how) as process:
        try:
            patiently(lambda: condition() or process.poll() is not None, "it is pushed")
            go.touch()
            out, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 0, said
    return said, int(out)


def total(profiles, kind, function):
    """What several profiles say of the stacks whose innermost function that is."""
    return sum(value for p in profiles for stack, value in p["samples"].get(kind, {}).items()
               if stack[0] == function)


def judge(profiles, rounds):
    """They say what the service did."""
    assert len(profiles) > 1, f"{len(profiles)} pushes"
    for function, blocks, kept in ("short_lived", 100, 0), ("long_lived", 10, 10):
        same(total(profiles, "alloc_space", function), rounds * blocks * 1008, f"bytes of {function}")
        same(total(profiles, "alloc_objects", function), rounds * blocks, f"blocks of {function}")
        same(total(profiles, "alloc_samples", function), rounds * blocks * 126, f"samples of {function}")
        same(total(profiles[-1:], "inuse_space", function), rounds * kept * 1008, f"live in {function}")
        same(total(profiles[-1:], "inuse_objects", function), rounds * kept, f"live blocks of {function}")
    spans = [(p["time"], p["time"] + p["duration"]) for p in profiles]
    same(spans, sorted(spans), "their times")
    for (_, end), (begin, _) in zip(spans, spans[1:]):
        same(begin, end, "where an interval begins")


@test
def otlp():
    r = make.Receiver()
    said, rounds = run_until(lambda: len(r.got) > 1, r.url, "--label", "service=shop", "--label", "team=a b")
    profiles = [wire.otlp(body) for _, _, body in r.got]
    judge(profiles, rounds)
    same({path for path, _, _ in r.got}, {"/v1development/profiles"})
    same(r.got[0][1]["Content-Type"], "application/x-protobuf")
    attributes = profiles[0]["attributes"]
    same((attributes["service.name"], attributes["team"]), ("shop", "a b"))
    same(attributes["process.executable.name"], "service")
    assert attributes["process.pid"].isdigit()
    assert f"pushed {len(r.got)} times to {r.url}/v1development/profiles" in said, said


@test
def pyroscope():
    r = make.Receiver()
    _, rounds = run_until(lambda: len(r.got) > 1, r.url + "/ingest", "--label", "service=shop", "--label", "team=a,b")
    judge([wire.pprof(body) for _, _, body in r.got], rounds)
    url = urllib.parse.urlparse(r.got[0][0])
    query = urllib.parse.parse_qs(url.query)
    same((url.path, query["format"]), ("/ingest", ["pprof"]))
    [name] = query["name"]
    assert name.startswith("shop{") and name.endswith("}") and "team=a_b" in name, name
    assert 0 <= int(query["until"][0]) - int(query["from"][0]) < 60


@test
def parca():
    r = make.Receiver()
    _, rounds = run_until(lambda: len(r.got) > 1, r.url + "/profiles/writeraw", "--label", "service=shop")
    profiles = []
    for _, headers, body in r.got:
        [series] = json.loads(body)["series"]
        labels = {x["name"]: x["value"] for x in series["labels"]["labels"]}
        same((labels["__name__"], labels["service_name"]), ("memory", "shop"))
        allocated, live = [wire.pprof(gzip.decompress(base64.b64decode(s["rawProfile"]))) for s in series["samples"]]
        same((live["time"], live["duration"]), (allocated["time"] + allocated["duration"], 0), "a moment, not a sum")
        profiles.append(allocated | {"samples": allocated["samples"] | live["samples"]})
    judge(profiles, rounds)


@test
def threads_are_labels_where_asked_for():
    for path, read in ("", wire.otlp), ("/ingest", wire.pprof):
        for asked in [], ["--push-threads"]:
            r = make.Receiver()
            run(r.url + path, *asked, rounds=4)
            found = [read(body) for _, _, body in r.got]
            of = {name for p in found for name in p["threads"].get("alloc_space", {})}
            same(of, {"service"} if asked else set(), "names")
            same(sum(v for p in found for v in p["threads"].get("alloc_space", {}).values()),
                 sum(v for p in found for v in p["samples"].get("alloc_space", {}).values()) if asked else 0, "bytes")


@test
def a_ring_is_pushed_while_it_is_kept():
    """Its keeper frees what it has read of the recording, and must not be ahead of the pushing."""
    for behave in 200, make.late:
        r = make.Receiver()
        r.behave = lambda n, behave=behave: behave
        said = run(r.url, "--max-size", "64M", rounds=4000, pause=1)
        same("warning" in said, False, said)
        judge([wire.otlp(body) for _, _, body in r.got], rounds=4000)
        kept = json.loads(subprocess.run([ALLOTRACE, "hotspots", "--json", "x.ctf/"], text=True, check=True,
                                         stdout=subprocess.PIPE).stdout)
        same(kept["total"]["value"] >= 4000 * ROUND, True, "the segments have all")
        shutil.rmtree("x.ctf")


@test
def several_receivers_get_the_same():
    a, b = make.Receiver(), make.Receiver()
    _, rounds = run_until(lambda: min(len(a.got), len(b.got)) > 1, f"{a.url},{b.url}/ingest")
    judge([wire.otlp(body) for _, _, body in a.got], rounds)
    judge([wire.pprof(body) for _, _, body in b.got], rounds)


@test
def a_receiver_that_was_down_gets_what_it_missed():
    r = make.Receiver()
    r.behave = lambda n: 503 if n in (2, 3) else 200
    said, rounds = run_until(lambda: len(r.got) > 1, r.url)
    judge([wire.otlp(body) for _, _, body in r.got], rounds)
    same(said.count("status 503: so it is"), 1, said)
    assert "missed data is sent when the server accepts data again" in said


@test
def resets_garbage_and_endless_answers_are_failures():
    for trouble in make.reset, make.garbage, make.endless:
        r = make.Receiver()
        r.behave = lambda n, trouble=trouble: trouble if n == 1 else 200
        said, rounds = run_until(lambda r=r: len(r.got) > 1, r.url)
        same(said.count("warning: "), 1, f"{trouble.__name__}: {said}")
        if trouble is not make.endless:  # which has taken the request before it misbehaves
            judge([wire.otlp(body) for _, _, body in r.got], rounds)


@test
def a_receiver_that_hangs_does_not_hold_the_others_up_for_ever():
    a, b = make.Receiver(), make.Receiver()
    a.behave = lambda n: make.slow
    said = run(f"{a.url},{b.url}", rounds=3)
    same(len([1 for line in said.splitlines() if "warning" in line and a.url in line]), 1, said)
    profiles = [wire.otlp(body) for _, _, body in b.got]
    same(total(profiles, "alloc_objects", "short_lived"), 300)


def judge_refusal(r, read, rounds):
    """What was refused is missing, whatever was in it, and nothing else."""
    taken, refused = [read(body) for _, _, body in r.got], [read(body) for _, _, body in r.refused]
    same(len(refused), 1, "refusals")
    for function, blocks in ("short_lived", 100), ("long_lived", 10):
        same(total(taken, "alloc_objects", function),
             rounds * blocks - total(refused, "alloc_objects", function), f"blocks of {function}")
    same(total(taken[-1:], "inuse_space", "long_lived"), rounds * KEPT)


@test
def what_is_refused_is_not_sent_again():
    r = make.Receiver()
    r.behave = lambda n: 400 if n == 3 else 200
    said, rounds = run_until(lambda: r.refused and len(r.got) > 2, r.url)
    judge_refusal(r, wire.otlp, rounds)
    assert "refused data is not sent again" in said and "parts were refused" in said, said


@test
def a_web_page_is_no_receiver():
    r = make.Receiver()
    r.behave = lambda n: make.page
    said = run(r.url + "/profiles/writeraw")
    assert f"nothing was pushed to {r.url}/profiles/writeraw: status 200 with a web page" in said, said
    assert "Parca does at /api/profiles/writeraw" in said, said


@test
def what_an_earlier_run_recorded_under_that_name_is_not_pushed():
    for least in 40, 10:
        r = make.Receiver()
        _, rounds = run_until(lambda r=r: len(r.got) > 1, r.url, rounds=least)
        judge([wire.otlp(body) for _, _, body in r.got], rounds)


@test
def what_pyroscope_cannot_store_yet_is_sent_again():
    for path, kept in ("/ingest", True), ("", False):
        r = make.Receiver()
        r.behave = lambda n: 422 if n == 2 else 200
        said, rounds = run_until(lambda r=r: len(r.got) > 1 and r.refused, r.url + path)
        if kept:
            judge([wire.pprof(body) for _, _, body in r.got], rounds)
        else:
            judge_refusal(r, wire.otlp, rounds)
        same("missed data is sent when the server accepts data again" in said, kept, said)


def judge_once(r, said):
    """All of a run of three rounds has come, with one push."""
    [profile] = [wire.otlp(body) for _, _, body in r.got]
    same([total([profile], "alloc_objects", f) for f in ("short_lived", "long_lived")], [300, 30], said)


def failing(n, how):
    r = make.Receiver()
    r.behave = lambda number: how if number <= n else 200
    return r


@test
def what_fails_after_the_end_is_sent_again():
    for trouble in 500, 503, 408, 429, make.reset, make.garbage:
        r = failing(3, trouble)
        said = run(r.url, "--every", "1h", rounds=3, pause=0)
        judge_once(r, said)
        same((r.seen, "warning" in said, f"pushed 1 times to {r.url}" in said), (4, False, True), said)


@test
def a_receiver_says_after_the_end_when_to_come_again():
    r = failing(2, make.later(429, 1))
    judge_once(r, run(r.url, "--every", "1h", rounds=3, pause=0))
    same(r.seen, 3)
    for status in 429, 503:
        r = failing(1, make.later(status, 60))
        said = run(r.url, "--every", "1h", rounds=3, pause=0)
        same((r.seen, r.got), (1, []), said)
        same([line for line in said.splitlines() if "warning" in line],
             [f"allotrace: warning: nothing was pushed to {r.url}/v1development/profiles: status {status}"])


@test
def what_is_refused_at_the_end_is_not_sent_again():
    for status in 400, 401, 403, 404:
        r = failing(1, status)
        said = run(r.url, "--every", "1h", rounds=3, pause=0)
        same((r.seen, r.got, said.count("warning")), (1, [], 1), said)
        assert f"nothing was pushed to {r.url}/v1development/profiles: status {status}" in said, said


@test
def a_receiver_that_hangs_does_not_keep_others_from_being_tried_again():
    a, b = make.Receiver(), failing(3, 503)
    a.behave = lambda n: make.slow
    said = run(f"{a.url},{b.url}", "--every", "1h", rounds=3, pause=0)
    judge_once(b, said)
    same([line.split(": ")[1:3] for line in said.splitlines() if "warning" in line],
         [["warning", f"nothing was pushed to {a.url}/v1development/profiles"]], said)


def pauses(pid):
    """How often a process has waited, as the service does in each round."""
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1])


def insist_until_ctrl_c(r, *words, attached=None):
    """The command insists, once a first Ctrl-C has ended the recording of an attached process; it ends at the next one."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE", "LD_PRELOAD", "OTEL_"))}
    with subprocess.Popen([ALLOTRACE, *words, "--push", r.url, "--every", "1h", *([str(attached)] if attached else ["--", SERVICE, "3", "0"])],
                          env=env | {"ALLOTRACE_PRELOAD": RECORDER}, text=True, stderr=subprocess.PIPE) as process:
        if attached:
            assert "recording process" in process.stderr.readline()
            begun = pauses(attached)
            patiently(lambda: pauses(attached) > begun + 10, "rounds are recorded")
            process.send_signal(signal.SIGINT)
        patiently(lambda: r.seen >= 3 or process.poll() is not None, "it tries again")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert r.seen >= 3, f"{words}: {r.seen} tries: {said}"
    assert r.seen <= 5, f"{r.seen} tries: {said}"
    same(said.count("nothing was pushed to"), 1, said)


@test
def ctrl_c_ends_the_tries_after_the_end():
    for words in ["-o", "x.ctf"], ["-o", "x.%p.ctf"], ["-o", "ring", "--max-size", "64M"], ["-o", "ring/%p", "--max-size", "64M"]:
        insist_until_ctrl_c(failing(1000, 503), "run", "-r", "1", *words)
    os.unlink("x.ctf")
    with subprocess.Popen([SERVICE, "100000", "10"]) as service:
        try:
            insist_until_ctrl_c(failing(1000, 503), "attach", "-r", "1", "-o", "x.ctf", attached=service.pid)
        finally:
            service.kill()


@test
def nobody_there():
    said = run("http://127.0.0.1:1", rounds=10)
    same([line.replace("Could not", "Couldn't")  # as newer versions of libcurl say it
          for line in said.splitlines() if "nothing was pushed" in line],
         ["allotrace: warning: nothing was pushed to http://127.0.0.1:1/v1development/profiles: "
          "Couldn't connect to server"])
    info = json.loads(subprocess.run([ALLOTRACE, "info", "--json", "x.ctf"], text=True, check=True,
                                     stdout=subprocess.PIPE).stdout)
    assert info[0]["allocated"]["value"] >= 10 * ROUND, "the trace lacks something"


@test
def the_trace_is_as_without():
    r = make.Receiver()
    run(r.url)
    hotspots = subprocess.run([ALLOTRACE, "hotspots", "--csv", "x.ctf"], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
    assert "short_lived" in hotspots and str(1000 * 1008) in hotspots, hotspots


@test
def below_rate_1_samples_are_told_beside_estimates():
    r = make.Receiver()
    run(r.url, rounds=20, options=("-r", "0.05"))
    profiles = [wire.otlp(body) for _, _, body in r.got]
    samples = total(profiles, "alloc_samples", "short_lived")
    same(total(profiles, "alloc_space", "short_lived"), samples * 160)
    assert abs(samples - 2000 * 126 * 0.05) < 1200, samples


@test
def a_process_that_becomes_another_program():
    r = make.Receiver()
    run(r.url, service=["5"])
    profiles = [wire.otlp(body) for _, _, body in r.got]
    same(total(profiles, "alloc_objects", "short_lived"), 1500)


def enough(is_so):
    """Lets a service end that awaits it."""
    if is_so:
        pathlib.Path("enough").touch()


def of_processes(r):
    """What was pushed, by process and program."""
    found = {}
    for profile in (wire.otlp(body) for _, _, body in list(r.got)):
        of = profile["attributes"]["process.pid"], profile["attributes"]["process.executable.name"]
        found.setdefault(of, []).append(profile)
    return found


def run_family(r, script, options=("-r", "1"), status=0, every="300ms"):
    """What the processes of a shell's script push, by process and program; and standard error."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE", "LD_PRELOAD", "OTEL_"))}
    shutil.rmtree("traces", ignore_errors=True)
    os.mkdir("traces")
    done = subprocess.run([ALLOTRACE, "run", "-o", "traces/x.%p.ctf", *options, "--push", r.url, "--every", every, "--",
                           "sh", "-c", re.sub(r"\bSERVICE\b", SERVICE, script)],
                          env=env | {"ALLOTRACE_PRELOAD": RECORDER}, text=True, stderr=subprocess.PIPE, timeout=120)
    same(done.returncode, status, done.stderr)
    return of_processes(r), done.stderr


def services(found):
    return [profiles for (_, program), profiles in sorted(found.items()) if program == "service"]


def judge_traces(found):
    """What was pushed is what all the traces have."""
    text = subprocess.run([ALLOTRACE, "hotspots", "--json", "--min-share", "0", "traces"], text=True, check=True, stdout=subprocess.PIPE).stdout
    same(sum(v for profiles in found.values() for p in profiles for v in p["samples"].get("alloc_space", {}).values()),
         json.loads(text)["total"]["value"], "bytes")


@test
def each_child_process_is_a_series():
    r = make.Receiver()
    r.behave = lambda n: enough(max(map(len, services(of_processes(r))), default=0) > 2) or 200
    found, said = run_family(r, "SERVICE 3 0 & SERVICE 4 0 & SERVICE_AWAITS=enough SERVICE 10 50 >rounds & wait")
    rounds = int(pathlib.Path("rounds").read_text())
    judge_traces(found)
    same(sorted((total(p, "alloc_objects", "short_lived"), total(p[-1:], "inuse_objects", "long_lived")) for p in services(found)),
         [(300, 30), (400, 40), (100 * rounds, 10 * rounds)], "blocks")
    brief, brief_too, long = sorted(services(found), key=lambda p: total(p, "alloc_objects", "short_lived"))
    for p in brief, brief_too:  # once, or twice if one of the pushes came in between
        assert all(push["samples"].get("alloc_space") for push in p), f"nothing new in one of {len(p)} pushes"
    assert len(long) > 1, "one that lives is pushed while it does"
    assert len(found) > 3, "what they were before exec is told, too"
    assert re.search(f"pushed {len(r.got)} times to .*, for {len(found)} processes", said), said


@test
def what_children_push_after_the_end_is_sent_again():
    r = failing(7, 503)
    found, said = run_family(r, "SERVICE 3 0 & SERVICE 4 0 & SERVICE 5 0 & wait", every="1h")
    judge_traces(found)
    same([len(profiles) for profiles in found.values()], [1] * len(found), said)


@test
def a_receiver_that_has_all_of_a_process_gets_nothing_more_of_it():
    """While another one is down."""
    a, b = make.Receiver(), make.Receiver()
    a.behave = lambda n: 503 if n <= 10 else 200
    found, said = run_family(types.SimpleNamespace(url=f"{a.url},{b.url}", got=b.got), "SERVICE 3 0; SERVICE 40 50", every="200ms")
    same(len(services(found)), 2, said)
    assert min(len(p) for p in services(found)) <= 2, "pushes of the one that ended, perhaps while it ran"
    judge_traces(found)


@test
def processes_that_are_killed_are_told_of_whole():
    r = make.Receiver()
    found, _ = run_family(r, "SERVICE 5 0 7 & SERVICE 1000 50 & child=$!; sleep 1; kill -9 $child; sleep 1; kill -9 $$", status=-9)
    same([total(p, "alloc_objects", "short_lived") for p in services(found)][0] > 0, True)
    judge_traces(found)


@test
def children_of_children_and_of_forks_without_exec():
    r = make.Receiver()
    found, _ = run_family(r, "(x=1; SERVICE 2 10; SERVICE 3 10; : $x) & (SERVICE 4 10; :) ; wait", options=("-r", "0.005"))
    judge_traces(found)


@test
def more_processes_than_places_wait_for_a_receiver_that_is_down():
    r = make.Receiver()
    r.behave = lambda n: 503 if n <= 100 else enough(True) or 200
    found, said = run_family(r, "for i in $(seq 90); do SERVICE 1 0 & done; SERVICE_AWAITS=enough SERVICE 1 100 >rounds; wait",
                             every="200ms")
    rounds = int(pathlib.Path("rounds").read_text())
    same(sorted(total(p, "alloc_objects", "short_lived") for p in services(found)), sorted([100] * 90 + [100 * rounds]))
    judge_traces(found)
    same(said.count("status 503"), 1, said)


@test
def a_receiver_that_stays_down_is_told_once():
    r = make.Receiver()
    r.behave = lambda n: 503
    found, said = run_family(r, "for i in $(seq 70); do SERVICE 1 0 & done; wait")
    same(found, {})
    told = [s.split("profiles: status 503: so it is ; ", 1)[1] for s in said.splitlines() if "warning: http" in s]
    assert told in (["trying again for at most ten seconds; Ctrl-C ends that"],
                    ["missed data is sent when the server accepts data again"]), said  # if some end late
    why = [s.split("profiles: ", 1)[1] for s in said.splitlines() if "warning: nothing was pushed to" in s]
    assert why in (["status 503: so it is "], ["status 503: so it is"], ["Timeout was reached"]), said


@test
def attached_processes():
    r = make.Receiver()

    def rounds():
        return total([wire.otlp(body) for _, _, body in r.got], "alloc_objects", "short_lived") / 100

    with subprocess.Popen([SERVICE, "100000", "50"]) as service:
        try:
            attach = subprocess.Popen([ALLOTRACE, "attach", "-r", "1", "-o", "x.ctf", "--push", r.url, "--every", "200ms", str(service.pid)],
                                      env=os.environ | {"ALLOTRACE_PRELOAD": RECORDER}, text=True, stderr=subprocess.PIPE)
            patiently(lambda: rounds() > 20, "it is pushed")
            service.send_signal(signal.SIGUSR1)
            said = attach.communicate(timeout=60)[1]
            same((attach.returncode, service.wait()), (0, 0), said)
        finally:
            service.kill()
    profiles = [wire.otlp(body) for _, _, body in r.got]
    assert rounds() - total(profiles, "alloc_objects", "long_lived") / 10 < 1
    info = json.loads(subprocess.run([ALLOTRACE, "hotspots", "--json", "x.ctf"], text=True, check=True,
                                     stdout=subprocess.PIPE).stdout)
    assert str(total(profiles, "alloc_space", "short_lived")) in json.dumps(info), info


@test
def tokens_and_headers():
    r = make.Receiver()
    pathlib.Path("token").write_text("secret\nmore\n")
    run(r.url, "--token-file", "token", rounds=2,
        env={"OTEL_EXPORTER_OTLP_HEADERS": "x-scope=one, x-other=two=2"})
    same([r.got[0][1].get(name) for name in ("Authorization", "x-scope", "x-other")],
         ["Bearer secret", "one", "two=2"])
    r = make.Receiver()
    run(r.url, rounds=2, env={"ALLOTRACE_PUSH_TOKEN": "other"})
    same(r.got[0][1]["Authorization"], "Bearer other")


@test
def labels_of_the_environment():
    r = make.Receiver()
    run(r.url, "--label", "team=mine", rounds=2,
        env={"OTEL_SERVICE_NAME": "from-env", "KUBERNETES_SERVICE_HOST": "x", "POD_NAME": "pod-1",
             "OTEL_RESOURCE_ATTRIBUTES": "team=theirs,deployment.environment=a%20b,nonsense"})
    attributes = wire.otlp(r.got[0][2])["attributes"]
    same([attributes[k] for k in ("service.name", "team", "deployment.environment", "k8s.pod.name")],
         ["from-env", "mine", "a b", "pod-1"])
    assert "nonsense" not in attributes


def certificate(name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key",
                    "-out", name, "-days", "1", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
    return os.path.abspath(name)


@test
def tls():
    known, unknown = certificate("cert"), certificate("other")
    for file, refused in (known, None), (unknown, "SSL peer certificate"), ("/nowhere", "SSL CA cert"):
        r = make.Receiver()
        make.with_tls(r, "cert", "cert.key")
        said = run(r.url.replace("http:", "https:"), rounds=4, env={"SSL_CERT_FILE": file})
        same(len(r.got) > 0, refused is None, said)
        same(bool(refused) and refused in said, bool(refused), said)
        same("or from $SSL_CERT_FILE" in said, bool(refused), said)


@test
def wrong_options():
    for arguments, status, said in [
            (["--push", "localhost:4318"], 2, "localhost:4318: it must begin with http:// or https://"),
            (["--push", "http:///x"], 2, "http:///x: it names no host"),
            (["--push", "http://me:word@host/"], 2, "a password in a URL is visible to others"),
            (["--push", "http://h", "--label", "x"], 2, "x: a label must be KEY=VALUE"),
            (["--push", "http://h", "--every", "1ms"], 2, "100ms is the shortest time"),
            (["--push", "http://h", "--token-file", "/nowhere"], 2, "/nowhere: No such file"),
            (["--label", "a=b"], 2, "require --push URL")]:
        done = subprocess.run([ALLOTRACE, "run", *arguments, "--", "true"], text=True,
                              stderr=subprocess.PIPE)
        assert said in done.stderr, done.stderr
        same((done.returncode, len(done.stderr.splitlines())), (status, 1), done.stderr)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
