local Permute = {}
Permute.__index = Permute
function Permute.new(n)
  local p = setmetatable({count = 0, list = {}}, Permute)
  for i = 0, n - 1 do p.list[i] = i end
  return p
end
function Permute:swap(i, j) local t = self.list[i]; self.list[i] = self.list[j]; self.list[j] = t end
function Permute:run(n)
  if n == 1 then self.count = self.count + 1; return end
  for i = 0, n - 1 do self:swap(i, n - 1); self:run(n - 1); self:swap(i, n - 1) end
end
local p = Permute.new(9)
p:run(9)
print(p.count == 362880)
