local Tree = {}
Tree.__index = Tree
function Tree.new(d)
  local t = setmetatable({left = nil, right = nil}, Tree)
  if d > 0 then t.left = Tree.new(d - 1); t.right = Tree.new(d - 1) end
  return t
end
function Tree:check() if self.left == nil then return 1 end return 1 + self.left:check() + self.right:check() end
local n = 0
for i = 1, 20 do n = n + Tree.new(14):check() end
print(n == 655340)
