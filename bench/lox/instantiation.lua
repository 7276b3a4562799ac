local Empty = {}; Empty.__index = Empty
function Empty.new() return setmetatable({}, Empty) end
local last
for i = 0, 299999 do
  Empty.new() Empty.new() Empty.new() Empty.new() Empty.new() Empty.new() Empty.new() Empty.new() Empty.new() last = Empty.new()
end
print(last ~= nil)
