local Point = {}; Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
local sum = 0
for i = 0, 1999999 do local p = Point.new(i, 1); sum = sum + p.y end
print(sum == 2000000)
