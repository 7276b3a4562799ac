-- Allocates in many ways: errors, collections, coroutines, and a recursion of a given depth, which may be too deep.
local kept = {}
local function churn(n)
  for i = 1, n do
    local t = {i, tostring(i), key = {i}}
    if i % 7 == 0 then
      kept[#kept + 1] = t
    end
    pcall(error, t)
    local co = coroutine.wrap(function(a)
      while true do
        a = coroutine.yield(a .. "!")
      end
    end)
    co(i)
    co(i + 1)
  end
end
local function recurse(n)
  return n == 0 and 0 or 1 + recurse(n - 1)
end
churn(200)
print(recurse(5000))
print(pcall(recurse, tonumber(arg[1])))
collectgarbage()
collectgarbage()
print(#kept, select("#", table.concat({}, ",")))
