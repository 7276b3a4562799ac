-- Compiled code does without tables that do not leave it, and makes them where it is left itself.
local kept = {}

local function make(i)
  return { i, -1.0 }
end

local function sum(n)
  local total = 0
  for i = 1, n do
    local pair = make(i)
    total = total + pair[1] + pair[2]
    if i % 5000 == 0 then
      kept[#kept + 1] = pair
    end
  end
  return total
end

local co = coroutine.wrap(function()
  coroutine.yield(sum(200000))
end)

print(co(), #kept)
