# A server that becomes a daemon and forks to save.
socket=./redis.sock
ln -s "$(command -v redis-check-rdb)" redis-server # one program, by either name
./redis-server --port 0 --unixsocket $socket --daemonize yes --dir . --pidfile "$PWD/pid" --save '' --logfile "$PWD/log" >/dev/null
ask() { LD_PRELOAD= redis-cli -s $socket "$@"; }
for _ in $(seq 1000); do ask ping >/dev/null 2>&1 && break; sleep 0.05; done
ask mset a 1 b 2
LD_PRELOAD= redis-benchmark -s $socket -q -n 5000 -t set,lpush,lrange_100 >/dev/null
ask bgsave >/dev/null
for _ in $(seq 1000); do ask info persistence | grep -q 'rdb_bgsave_in_progress:0' && break; sleep 0.05; done
ask info persistence | grep -o 'rdb_last_bgsave_status:[a-z]*'
ask get a
ask shutdown nosave
for _ in $(seq 1000); do [ -e pid ] || break; sleep 0.05; done
[ ! -e pid ] || echo "still there"
