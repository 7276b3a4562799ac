local Toggle = {}; Toggle.__index = Toggle
function Toggle.new(state) return setmetatable({state = state}, Toggle) end
function Toggle:value() return self.state end
function Toggle:activate() self.state = not self.state; return self end
local Counted = setmetatable({}, {__index = Toggle}); Counted.__index = Counted
function Counted.new(state, most) return setmetatable({state = state, most = most, count = 0}, Counted) end
function Counted:activate()
  self.count = self.count + 1
  if self.count >= self.most then Toggle.activate(self); self.count = 0 end
  return self
end
local n, value = 400000, true
local toggle = Toggle.new(value)
for _ = 1, n do value = toggle:activate():activate():activate():value() end
local other = Counted.new(true, 3)
for _ = 1, n do value = other:activate():activate():activate():value() end
print(value and toggle:value())
