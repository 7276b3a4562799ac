local Queens = {}; Queens.__index = Queens
function Queens.new(n) return setmetatable({n = n, columns = {}, up = {}, down = {}}, Queens) end
function Queens:place(row)
  if row == self.n then return 1 end
  local found = 0
  for c = 0, self.n - 1 do
    if self.columns[c] == nil and self.up[row + c] == nil and self.down[row - c + self.n] == nil then
      self.columns[c] = true; self.up[row + c] = true; self.down[row - c + self.n] = true
      found = found + self:place(row + 1)
      self.columns[c] = nil; self.up[row + c] = nil; self.down[row - c + self.n] = nil
    end
  end
  return found
end
local right = true
for _ = 1, 60 do right = right and Queens.new(8):place(0) == 92 end
print(right)
