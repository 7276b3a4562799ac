local Benchmark = {}; Benchmark.__index = Benchmark
function Benchmark:tree(depth)
  if depth == 1 then return {nil, nil, nil} end
  local node = {}
  for i = 1, 4 do node[i] = self:tree(depth - 1) end
  self.count = self.count + 1
  return node
end
local right = true
for _ = 1, 150 do local b = setmetatable({count = 0}, Benchmark); b:tree(8); right = right and b.count == 5461 end
print(right)
