Settings of the agent that are wrong are pointed at, and nothing is done:

  $ settings() { printf '%s\n' "$@" >agent.toml; allotrace agent --list agent.toml 2>&1; }
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "no-such-program"'
  allotrace: no running process matches
  $ settings '[agent]' 'folder = "x"' '[[process]]' 'name = "a"' 'command = "b"'
  allotrace: agent.toml:6:1: [agent] needs a `folder`, an absolute path
  [1]
  $ settings '[agent]' 'folder = "/x"'
  allotrace: agent.toml:3:1: there is no [[process]]
  [1]
  $ settings 'folder = "/x"'
  allotrace: agent.toml:1:1: expected [agent] or [[process]]
  [1]
  $ settings '[agent]' 'folder = "/x"' '[agent]'
  allotrace: agent.toml:3:1: [agent] is given twice
  [1]
  $ settings '[agent]' 'folder = "/x"' 'rate = 1'
  allotrace: agent.toml:3:1: `rate` is none of folder, status, scan, max-processes, pprof, sys-admin
  [1]
  $ settings '[agent]' 'folder = "/x"' 'scan = 5'
  allotrace: agent.toml:3:8: expected a time of at least 100ms, like "5s"
  [1]
  $ settings '[agent]' 'folder = "/x"' 'scan = "1ms"'
  allotrace: agent.toml:3:8: expected a time of at least 100ms, like "5s"
  [1]
  $ settings '[agent]' 'folder = "/x"' 'max-processes = 0'
  allotrace: agent.toml:3:17: expected a number from 1 to 100000
  [1]
  $ settings '[agent]' 'folder = "/x"' 'pprof = 1'
  allotrace: agent.toml:3:9: expected true or false
  [1]
  $ settings '[agent]' 'folder = "/x"' 'pprof = true' '[[process]]' 'name = "a"' 'command = "b"'
  allotrace: agent.toml:7:1: `pprof` requires `status`
  [1]
  $ settings '[agent]' 'folder = "/x"' '[process]'
  allotrace: agent.toml:3:1: expected [agent] or [[process]]
  [1]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'command = "b"'
  allotrace: agent.toml:3:1: the process needs a `name`, which becomes that of a folder
  [1]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "../a"' 'command = "b"'
  allotrace: agent.toml:3:1: the process needs a `name`, which becomes that of a folder
  [1]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"'
  allotrace: agent.toml:3:1: the process needs `command`, `arguments`, `user` or `container`, by which it is found
  [1]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'labels = "c=d"'
  allotrace: agent.toml:6:10: expected a list of strings, like ["team=a"]
  [1]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'token-file = "/t"'
  allotrace: agent.toml:3:1: `token-file` requires `push`
  [1]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'folder = "/y"'
  allotrace: agent.toml:6:1: `folder` is none of name, command, arguments, user, container, rate, depth, keep, max-size, overhead, push, every, labels, token-file, context, go, mmap, native, push-threads, no-symbolize
  [1]

What is said of the recording is judged as by `attach`:

  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'rate = 2'
  allotrace: agent.toml:6: --rate: `2` is not a rate above 0 and at most 1, such as 1e-5
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'keep = "long"'
  allotrace: agent.toml:6: --keep: `long` is not a time such as 10min, 1.5s or 20ms
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'max-size = "1M"'
  allotrace: agent.toml:6: --max-size: `1M` is not a size of at least 4M, such as 200M or 2G
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'every = "1s"'
  allotrace: agent.toml:6: --every, --label, --push-threads and --token-file require --push URL
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'push = "shop"'
  allotrace: agent.toml:6: shop: it must begin with http:// or https://
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'every = "1s"' 'depth = 100000' 'push = "http://h"' 'rate = 0.1'
  allotrace: agent.toml:7: --depth must be from 1 to 4096
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'mmap = true' 'depth = "x"' 'labels = ["a=b"]' 'rate = 2'
  allotrace: agent.toml:7: --depth: `x` is not a whole number
  [2]
  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "b"' 'keep = "1min"' '[[process]]' 'name = "c"' 'command = "d"' 'overhead = "lots"'
  allotrace: agent.toml:10: --overhead: `lots` is not a percentage from 0 to 100
  [2]

What is found is a table; its form is only of --list:

  $ settings '[agent]' 'folder = "/x"' '[[process]]' 'name = "a"' 'command = "no-such-program"'
  allotrace: no running process matches
  $ allotrace agent --list --json agent.toml
  {"processes":[]}
  allotrace: no running process matches
  $ allotrace agent --list --csv agent.toml
  rule,pid,program
  allotrace: no running process matches
  $ allotrace agent --list --csv --json agent.toml
  allotrace: agent: --json and --csv exclude each other
  Try `allotrace agent --help`.
  [2]
  $ allotrace agent --json agent.toml
  allotrace: --json, --csv and --fields require --list
  Try `allotrace agent --help`.
  [2]

A missing file, and an address that cannot be had:

  $ allotrace agent missing.toml
  allotrace: missing.toml: No such file or directory
  [1]
  $ allotrace agent
  allotrace: agent needs one file of settings
  Try `allotrace agent --help`.
  [2]
  $ printf '[agent]\nfolder = "%s/rings"\nstatus = "nonsense"\n[[process]]\nname = "a"\ncommand = "b"\n' "$PWD" >agent.toml
  $ allotrace agent agent.toml
  allotrace: status: nonsense: not a PORT, HOST:PORT or unix:PATH
  [1]
  $ sed -i 's|nonsense|unix:/no/such/folder/socket|' agent.toml
  $ allotrace agent agent.toml
  allotrace: status: /no/such/folder/socket: No such file or directory
  [1]
