local Link = {}; Link.__index = Link
function Link.new(next) return setmetatable({next = next}, Link) end
local function make(n) local list; for _ = 1, n do list = Link.new(list) end return list end
local function length(list) local n = 0; while list ~= nil do n = n + 1; list = list.next end return n end
local function shorter(a, b)
  while b ~= nil do if a == nil then return true end a = a.next; b = b.next end
  return false
end
local function tail(x, y, z)
  if not shorter(y, x) then return z end
  return tail(tail(x.next, y, z), tail(y.next, z, x), tail(z.next, x, y))
end
local right = true
for _ = 1, 150 do right = right and length(tail(make(15), make(10), make(6))) == 10 end
print(right)
