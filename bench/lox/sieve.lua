local function run()
  local composite, primes = {}, 0
  for i = 2, 999999 do
    if not composite[i] then primes = primes + 1; for j = i + i, 999999, i do composite[j] = true end end
  end
  return primes
end
print(run() == 78498)
