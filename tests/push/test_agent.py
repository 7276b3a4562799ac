#!/usr/bin/python3
"""Has the agent record services, which start, end and are restarted, and ends it in each way. Prints TAP.

    test_agent.py ALLOTRACE RECORDER SERVICE [TEST...]
"""
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import receiver as make  # noqa: E402
import tap  # noqa: E402
import wire  # noqa: E402
from recording import patiently  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, RECORDER, SERVICE = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE", "LD_PRELOAD", "OTEL_"))}
ENVIRONMENT["ALLOTRACE_PRELOAD"] = RECORDER
LABELS = ("thread", "scope", "heap", "type", "size class", "lifetime class")
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
# A process of another user loads the recorder with that user's rights.
CAN_BECOME_OTHERS = os.geteuid() == 0 and subprocess.run(["test", "-r", RECORDER], **NOBODY).returncode == 0


def read(path):
    with contextlib.suppress(OSError):
        return pathlib.Path(path).read_bytes().decode(errors="replace")
    return ""


class Local(http.client.HTTPConnection):
    """By a unix socket."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(str(pathlib.Path.cwd() / "socket"))


class Agent:
    """With a rule for a service of this test alone: its name is part of what it is called by."""

    def __init__(self, *lines, agent=(), rate="1", scan="100ms", under=()):
        shutil.rmtree("rings", ignore_errors=True)
        self.name = f"shop{os.getpid()}"
        shutil.copy(SERVICE, self.name)
        settings = ["[agent]", f'folder = "{os.getcwd()}/rings"', f'status = "unix:{os.getcwd()}/socket"', f'scan = "{scan}"',
                    "pprof = true", *agent, "[[process]]", 'name = "shop"', f'command = "{self.name}"', f"rate = {rate}", *lines]
        pathlib.Path("agent.toml").write_text("\n".join(settings) + "\n")
        self.services = []
        self.start(under)

    def start(self, under=()):
        pathlib.Path("socket").unlink(missing_ok=True)
        self.process = subprocess.Popen([*under, ALLOTRACE, "agent", "agent.toml"], env=ENVIRONMENT, text=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        patiently(lambda: self.answers() or self.process.poll() is not None, "it answers")

    def answers(self):
        """The socket is there before anybody listens to it."""
        try:
            return self.ask("/status")[0] == 200
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()
        for service in self.services:
            service.kill()
            service.wait()

    def serve(self, rounds=100000, pause=10, more=None, **how):
        service = subprocess.Popen([os.path.abspath(self.name), str(rounds), str(pause), *([more] if more else [])], **how)
        self.services.append(service)
        return service

    def ask(self, path, host="localhost"):
        connection = Local("localhost")
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def status(self):
        status, body = self.ask("/status")
        same(status, 200)
        return json.loads(body)

    def of(self, service):
        return next((p for p in self.status()["processes"] if p["pid"] == service.pid), None)

    def await_state(self, service, state):
        return patiently(lambda: (p := self.of(service)) and p["state"] == state and p, f"{state} {self.status()}")

    def await_samples(self, service):
        """A segment has some of what the service does."""
        def has_some():
            status, body = self.ask(f"/debug/pprof/allocs?pid={service.pid}")
            profile = wire.pprof(gzip.decompress(body), labels=LABELS) if status == 200 else {"samples": {}}
            return {f for stack in profile["samples"].get("alloc_space", {}) for f in stack[:1]} >= {"short_lived", "long_lived"}

        patiently(has_some, "samples")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, said


def rings():
    return sorted(pathlib.Path("rings").iterdir())


def hotspots(*words):
    done = subprocess.run([ALLOTRACE, "hotspots", "--json", *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {row["function"]: row["value"] for row in json.loads(done.stdout)["hotspots"]}


@test
def a_service_that_runs_and_one_that_starts_later_are_recorded():
    with Agent() as agent:
        first = agent.serve()
        agent.await_state(first, "recording")
        second = agent.serve()
        agent.await_state(second, "recording")
        for service in first, second:
            agent.await_samples(service)
        status, said = agent.end()
        same(status, 0, said)
        assert "ending 2 recordings" in said, said
        for service in first, second:
            same(service.poll(), None, "the services go on")
            same(RECORDER in read(f"/proc/{service.pid}/maps"), True, "it was in there")
        [ring] = rings()
        segments = [path.name for path in ring.iterdir()]
        for service in first, second:
            assert any(f".{service.pid}-" in name for name in segments), segments
        same([name for name in segments if not name.endswith(".ctf")], [], "only segments are left")
        found = hotspots(ring)
        assert found["short_lived"] > 8 * found["long_lived"] > 0, found
        same(pathlib.Path("socket").exists(), False, "the socket is gone")


@test
def one_that_ends_is_forgotten_and_its_successor_recorded():
    with Agent() as agent:
        first = agent.serve()
        agent.await_state(first, "recording")
        agent.await_samples(first)
        first.send_signal(signal.SIGUSR1)
        same(first.wait(), 0)
        patiently(lambda: agent.of(first) is None, "it is forgotten")
        second = agent.serve()
        agent.await_state(second, "recording")
        status = agent.status()
        same((status["recordings_started"], status["recordings_ended"], status["failures"]), (2, 1, 0), f"{status} {agent.end()[1]}")
        assert hotspots(*rings()[0].glob(f"*.{first.pid}-*.ctf"))["short_lived"] > 0


@test
def one_that_ends_is_not_begun_again_before_its_parent_has_waited_for_it():
    """And before it is looked for again, which here is too late to matter."""
    with Agent(scan="5s") as agent:
        service = agent.serve()
        agent.await_state(service, "recording")
        service.send_signal(signal.SIGUSR1)
        patiently(lambda: (p := agent.of(service)) is None or p["state"] != "recording", "it has ended")
        status = agent.status()
        same((status["recordings_started"], status["recordings_ended"], status["failures"]), (1, 1, 0))


@test
def one_that_becomes_another_program_is_recorded_again():
    with Agent() as agent:
        service = agent.serve(more="100000")
        agent.await_state(service, "recording")
        time.sleep(1)  # the names of recordings have the second in which they begin
        service.send_signal(signal.SIGUSR1)
        patiently(lambda: agent.status()["recordings_started"] == 2, "it is begun again")
        agent.await_state(service, "recording")
        same(agent.status()["failures"], 0)
        agent.await_samples(service)
        agent.end()
        names = sorted(p.name for p in rings()[0].glob(f"*.{service.pid}-*.ctf"))
        same(len({name.split("-0")[0] for name in names}), 2, f"recordings of {names}")


@test
def when_the_agent_is_killed_the_recordings_end():
    with Agent() as agent:
        service = agent.serve()
        agent.await_state(service, "recording")
        agent.await_samples(service)
        agent.end(signal.SIGKILL)
        [ring] = rings()
        patiently(lambda: all(path.suffix == ".ctf" for path in ring.iterdir()), "the spool is gone")
        same(service.poll(), None)
        before = hotspots(ring)
        time.sleep(0.5)
        same(hotspots(ring), before, "nothing more is recorded")
        assert before["short_lived"] > 0


def descendants(pid):
    children = [int(c) for c in read(f"/proc/{pid}/task/{pid}/children").split()]
    return children + [d for c in children for d in descendants(c)]


@test
def when_all_are_killed_at_once_the_next_agent_goes_on():
    with Agent() as agent:
        service = agent.serve()
        agent.await_state(service, "recording")
        patiently(lambda: len(descendants(agent.process.pid)) > 1 and any(rings()[0].glob("*.ctf")), "it is kept")
        everyone = [agent.process.pid, *descendants(agent.process.pid)]
        for how in signal.SIGSTOP, signal.SIGKILL: # as a manager of services does with all of a service
            for one in everyone:
                os.kill(one, how)
        agent.process.communicate()
        agent.start()
        agent.await_state(service, "recording")
        time.sleep(1)
        status, said = agent.end()
        same(status, 0, said)
    [ring] = rings()
    same(len(list(ring.iterdir())), 2, "a segment each, and no spool")
    assert hotspots(ring)


@test
def what_cannot_be_recorded_is_said_and_tried_again_later():
    with Agent() as agent:
        agent.process.send_signal(signal.SIGSTOP)  # it comes when the service is stopped
        os.waitid(os.P_PID, agent.process.pid, os.WSTOPPED)
        service = agent.serve()
        service.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, service.pid, os.WSTOPPED)
        agent.process.send_signal(signal.SIGCONT)
        found = agent.await_state(service, "failed")
        assert found["problem"] and found["failures"] > 0, found  # it is stopped, perhaps before it has a C library
        service.send_signal(signal.SIGCONT)
        agent.await_state(service, "recording")
        problem = f"warning: shop {service.pid}: {found['problem']}"
        assert problem in agent.end()[1], problem


@test
def whoever_detaches_is_left_in_peace():
    with Agent() as agent:
        service = agent.serve()
        agent.await_state(service, "recording")
        subprocess.run([ALLOTRACE, "detach", str(service.pid)], env=ENVIRONMENT, check=True, stderr=subprocess.DEVNULL)
        agent.await_state(service, "detached")
        time.sleep(0.5)
        same(agent.of(service)["state"], "detached")


@test
def it_records_no_more_processes_than_it_may():
    with Agent(agent=["max-processes = 1"]) as agent:
        agent.await_state(agent.serve(), "recording")
        agent.serve()
        patiently(lambda: agent.status()["processes_left_out"] == 1, "one is left out")
        assert b"allotrace_agent_processes_left_out 1\n" in agent.ask("/metrics")[1]


@test
def rings_are_pushed_with_labels_and_a_token():
    r = make.Receiver()
    pathlib.Path("token").write_text("secret\n")
    with Agent(f'push = "{r.url}"', 'every = "200ms"', 'labels = ["service=shop", "team=a"]',
               f'token-file = "{os.getcwd()}/token"') as agent:
        service = agent.serve()
        agent.await_state(service, "recording")
        patiently(lambda: len(r.got) > 2, "it is pushed")
        status, said = agent.end()
        same(status, 0, said)
        assert re.search(rf"shop {service.pid}: pushed [0-9]+ times to ", said), said
    profiles = [wire.otlp(body) for _, _, body in r.got]
    same({headers.get("Authorization") for _, headers, _ in r.got}, {"Bearer secret"})
    same({(p["attributes"]["service.name"], p["attributes"]["team"]) for p in profiles}, {("shop", "a")})
    pushed = sum(v for p in profiles for stack, v in p["samples"].get("alloc_space", {}).items() if stack[0] == "short_lived")
    same(pushed, hotspots(rings()[0])["short_lived"], "bytes, pushed and kept")


def served(agent, service):
    """What is allocated in all, and lately, once all profiles show what they are to show."""
    answers = {path: agent.ask("/debug/pprof/" + path)
               for path in ("heap", "allocs", "allocs?seconds=2", f"heap?pid={service.pid}")}
    same({path: status for path, (status, _) in answers.items()}, dict.fromkeys(answers, 200))
    heap, allocs, late, _ = [wire.pprof(gzip.decompress(body), labels=LABELS) for _, body in answers.values()]
    live = sum(v for stack, v in heap["samples"].get("inuse_space", {}).items() if stack[0] == "long_lived")
    of = [sum(v for stack, v in p["samples"].get("alloc_space", {}).items() if stack[0] == "short_lived") for p in (allocs, late)]
    return of if live > 0 and of[0] > of[1] > 0 else None


@test
def profiles_are_served_as_go_does():
    with Agent() as agent:
        same(agent.ask("/debug/pprof/heap")[0], 404, "nothing is recorded")
        service = agent.serve(pause=50)
        agent.await_state(service, "recording")
        agent.await_samples(service)
        of = patiently(lambda: served(agent, service), "more was allocated than in the last two seconds")
        assert of[1] <= 2.5 / 0.05 * 100 * 1008, f"more than two seconds: {of}"
        for path in "seconds=0", "seconds=x":
            same(agent.ask("/debug/pprof/allocs?" + path)[0], 400, path)
        same(agent.ask("/debug/pprof/heap?pid=1")[0], 404)
        agent.await_state(agent.serve(), "recording")
        status, body = agent.ask("/debug/pprof/heap")
        same((status, json.loads(body)["error"]), (404, "several processes are recorded: add pid=PID"))
        same(agent.ask("/nothing")[0], 404)


def serve_at_a_port():
    """An agent, and a port of its own, which was free a moment before."""
    for _ in range(20):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        pathlib.Path("agent.toml").write_text(
            f'[agent]\nfolder="{os.getcwd()}/rings"\nstatus="{port}"\n[[process]]\nname="a"\ncommand="/"\n')
        process = subprocess.Popen([ALLOTRACE, "agent", "agent.toml"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        if "status at" in (said := process.stderr.readline()):
            return process, port
        said += process.communicate()[1]
        assert "in use" in said, said
    raise AssertionError("no port stays free")


@test
def another_page_cannot_ask():
    process, port = serve_at_a_port()
    try:
        for host, expected in ("localhost", 200), (f"127.0.0.1:{port}", 200), ("evil.example", 403):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", "/status", headers={"Host": host})
            same(connection.getresponse().status, expected, host)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", "/status", body="x")
        same(connection.getresponse().status, 405)
    finally:
        process.terminate()
        process.communicate()


@test
def another_users_process_is_recorded_with_that_users_rights():
    if not CAN_BECOME_OTHERS:
        raise tap.Skip("takes root")
    if any(not p.stat().st_mode & 0o001 for p in pathlib.Path(RECORDER).parents):
        raise tap.Skip("other users cannot reach the recorder")
    os.chmod(".", 0o755)
    with Agent() as agent:
        service = agent.serve(user=65534, group=65534, extra_groups=[])
        found = agent.await_state(service, "recording")
        same(found["uid"], 65534)
        status = read(f"/proc/{agent.process.pid}/status")
        same(re.search(r"NoNewPrivs:\t(\d)", status)[1], "1")
        same(int(re.search(r"CapEff:\t(\w+)", status)[1], 16) & ~0x800E5, 0, "capabilities of the agent")
        children = read(f"/proc/{agent.process.pid}/task/{agent.process.pid}/children").split()
        for child in children:
            status = read(f"/proc/{child}/status")
            same(re.search(r"Uid:\t(\d+)\t(\d+)", status).groups(), ("65534", "65534"))
            same(int(re.search(r"CapEff:\t(\w+)", status)[1], 16) & ~0x80000, 0, "capabilities of attach")
        same(len(children), 1)
        status, said = agent.end()
        same(status, 0, said)
        [ring] = rings()
        for path in ring, *ring.iterdir():
            same(path.stat().st_uid, 65534, str(path))
        same(ring.stat().st_mode & 0o777, 0o700)


@test
def a_manager_of_services_may_have_given_up_rights_already():
    if not CAN_BECOME_OTHERS or not shutil.which("setpriv"):
        raise tap.Skip("takes root and setpriv")
    os.chmod(".", 0o755)
    unit = (HERE.parent.parent / "examples/agent/allotrace-agent.service").read_text()
    rights = re.search(r"^CapabilityBoundingSet=(.*)", unit, re.M)[1].lower().replace("cap_", "+").split()
    with Agent(under=["setpriv", "--no-new-privs", f"--bounding-set=-all,{','.join(rights)}"]) as agent:
        service = agent.serve(user=65534, group=65534, extra_groups=[])
        same(agent.await_state(service, "recording")["uid"], 65534)
        status, said = agent.end()
        same(status, 0, said)


@test
def the_rate_follows_what_it_costs():
    """Also of another user's process, and of one that becomes another program."""
    def rates():
        done = subprocess.run([ALLOTRACE, "info", "--json", *sorted(rings()[0].glob("*.ctf"))], env=ENVIRONMENT, capture_output=True, text=True)
        return [trace["rate"] for trace in json.loads(done.stdout or "[]")] or [0.009]

    who = NOBODY if CAN_BECOME_OTHERS else {}
    os.chmod(".", 0o755)
    with Agent('overhead = "0.01%"', 'keep = "30s"', rate="0.009") as agent:
        service = agent.serve(pause=1, more="100000", **who)
        agent.await_state(service, "recording")
        time.sleep(1)
        service.send_signal(signal.SIGUSR1)
        patiently(lambda: agent.status()["recordings_started"] == 2, "it is begun again")
        agent.await_state(service, "recording")
        patiently(lambda: min(rates()) < 0.009, "it falls")
        same((max(rates()), service.poll()), (0.009, None), "where it began; and the service goes on")
        status, said = agent.end()
        same(status, 0, said)
        assert "overhead" not in said, said


def make_root(program):
    """A file system of its own for a program, with what it takes and a folder to write to."""
    root = pathlib.Path("root")
    (root / "tmp").mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], text=True, capture_output=True, check=True).stdout)
    for file in program, *libraries:
        to = root / str(pathlib.Path(file).resolve() if file == program else file).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
    os.chmod(".", 0o755)
    return root


@test
def a_process_with_its_own_file_system_is_kept_and_pushed():
    if not CAN_BECOME_OTHERS:
        raise tap.Skip("takes root")
    r = make.Receiver()
    with Agent(f'push = "{r.url}"', 'every = "200ms"', agent=["sys-admin = true"]) as agent:
        root = make_root(os.path.abspath(agent.name))
        (root / "proc").mkdir()
        become = 'mount -t proc proc "$0"/proc && exec chroot --userspec=65534:65534 "$0" "$1" 100000 10'
        service = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", become, root,
                                    os.path.abspath(agent.name)], stderr=subprocess.PIPE, text=True)
        agent.services.append(service)
        found = patiently(lambda: service.poll() is not None or next(
            (p for p in agent.status()["processes"] if p["state"] == "recording"), None), f"it is recorded: {agent.status()}")
        if service.poll() is not None:
            raise tap.Skip("no namespaces may be made here: " + service.stderr.read())
        try:
            same(found["uid"], 65534)
            patiently(lambda: agent.ask(f"/debug/pprof/heap?pid={found['pid']}")[0] == 200, "it has a segment")
            time.sleep(0.5)
            status, said = agent.end()
            same(status, 0, said)
            same(list((root / "tmp").glob(".*")), [], "nothing is left in there")
            pushed = sum(v for _, _, body in r.got for stack, v in wire.otlp(body)["samples"].get("alloc_space", {}).items()
                         if stack[0] == "short_lived")
            same(pushed, hotspots(rings()[0])["short_lived"], "bytes, pushed and kept, by name")
        finally:
            os.kill(found["pid"], signal.SIGKILL)  # which others do not, as it has become another user


@test
def a_folder_that_others_write_to_is_refused():
    os.mkdir("open")
    os.chmod("open", 0o777)
    pathlib.Path("agent.toml").write_text(f'[agent]\nfolder="{os.getcwd()}/open"\n[[process]]\nname="a"\ncommand="x"\n')
    done = subprocess.run([ALLOTRACE, "agent", "agent.toml"], env=ENVIRONMENT, capture_output=True, text=True, timeout=20)
    same(done.returncode, 1)
    assert "nobody else can write to" in done.stderr, done.stderr


@test
def rules_find_processes_by_what_they_say():
    with Agent() as agent:
        service = agent.serve(rounds=99999)
        found = {}
        for rule in ('command = "shop*"', 'arguments = "*99999*"', 'arguments = "*99998*"', f'user = "{os.geteuid()}"\ncommand="shop*"',
                     'user = "nobody-at-all"', 'command = "shop"', 'container = "*"\ncommand="shop*"',
                     'container = "*no-such-group*"'):
            pathlib.Path("list.toml").write_text(f'[agent]\nfolder="/x"\n[[process]]\nname="a"\n{rule}\n')
            listed = subprocess.run([ALLOTRACE, "agent", "--list", "list.toml"], env=ENVIRONMENT, capture_output=True, text=True,
                                    check=True).stdout
            found[rule] = str(service.pid) in listed
        same(list(found.values()), [True, True, False, True, False, False, True, False], str(found))


@test
def what_rules_find_is_a_table():
    with Agent() as agent:
        service = agent.serve(rounds=99999)
        pathlib.Path("list.toml").write_text('[agent]\nfolder="/x"\n[[process]]\nname="shops"\narguments="*99999*"\n')

        def listed(form):
            return subprocess.run([ALLOTRACE, "agent", "--list", *form, "list.toml"], env=ENVIRONMENT, capture_output=True, text=True,
                                  check=True).stdout

        [row] = json.loads(listed(["--json"]))["processes"]
        same(row | {"program": ""}, {"rule": "shops", "pid": service.pid, "program": ""})
        same(listed(["--csv"]), f"rule,pid,program\nshops,{service.pid},{row['program']}\n")
        same([line.split() for line in listed([]).splitlines()], [["rule", "pid", "program"], ["shops", str(service.pid), row["program"]]])


@test
def a_server_is_found_by_its_name_under_a_title_and_a_link():
    title = "import ctypes, sys, time; ctypes.CDLL(None).prctl(15, b'shop-server', 0, 0, 0); time.sleep(100)"
    os.symlink(os.path.realpath(sys.executable), "linked")
    with subprocess.Popen([os.path.abspath("linked"), "-c", title, "/srv/shop one"]) as service:
        try:
            patiently(lambda: read(f"/proc/{service.pid}/comm") == "shop-server\n", "it has its title")
            for name in "shop-server", "linked", os.path.basename(os.path.realpath(sys.executable)):
                pathlib.Path("list.toml").write_text(f'[agent]\nfolder="/x"\n[[process]]\nname="a"\ncommand = "{name}"\n')
                listed = subprocess.run([ALLOTRACE, "agent", "--list", "list.toml"], env=ENVIRONMENT, capture_output=True, text=True,
                                        check=True).stdout
                assert re.search(rf" {service.pid}  {re.escape(name)}$", listed, re.M), listed
        finally:
            service.kill()


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
