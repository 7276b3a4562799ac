local Disk = {}; Disk.__index = Disk
function Disk.new(size, below) return setmetatable({size = size, below = below}, Disk) end
local Towers = {}; Towers.__index = Towers
function Towers.new(n)
  local t = setmetatable({moves = 0, piles = {}}, Towers)
  for size = n, 1, -1 do t.piles[0] = Disk.new(size, t.piles[0]) end
  return t
end
function Towers:move(n, from, to)
  if n == 0 then return end
  local other = 3 - from - to
  self:move(n - 1, from, other)
  local disk = self.piles[from]
  self.piles[from] = disk.below
  disk.below = self.piles[to]
  self.piles[to] = disk
  self.moves = self.moves + 1
  self:move(n - 1, other, to)
end
local right = true
for _ = 1, 25 do local t = Towers.new(14); t:move(14, 0, 2); right = right and t.moves == 16383 end
print(right)
