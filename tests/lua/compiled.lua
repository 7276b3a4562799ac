-- Loops that LuaJIT compiles, in a coroutine and outside, with functions that the compiled code takes in.
local function make(i)
  return {i, i + 1}
end
local function inner(i, kept)
  kept[i % 100] = make(i)
  return ("x"):rep(20) .. i
end
local function outer(n, kept)
  for i = 1, n do
    kept[i % 100 + 100] = inner(i, kept)
  end
end
local kept = {}
local co = coroutine.wrap(function()
  outer(3000, kept)
  coroutine.yield()
  outer(3000, kept)
end)
co()
outer(3000, kept)
co()
local n = 0
for _, value in pairs(kept) do
  n = n + (type(value) == "table" and value[1] or #value)
end
print(n)
