local function adder(n) local function add(m) n = n + m; return n end return add end
total = 0
for i = 0, 999999 do total = total + adder(i)(1) + ({i, i})[2] end
print(total == 999999 * 1000000 + 1000000)
