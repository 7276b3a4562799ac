# Forks and execs in the ways of shells.
for i in 1 2 3 4 5; do
    x=$(echo "$i" | sed 's/./<&>/' | tr '<' '[')
    echo "$x"
done
(exit 3); echo $?
echo one & wait $!; echo $?
cat <(echo two)
exec 9</dev/null
f() { local a=("$@"); echo "${#a[@]}"; }
f $(seq 1 1000)
trap 'echo bye' EXIT
sh -c 'kill -9 $$' 2>/dev/null; echo $?
exec env true
