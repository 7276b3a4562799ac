local Random = {}; Random.__index = Random
function Random.new() return setmetatable({seed = 74755}, Random) end
function Random:next(limit)
  local n = self.seed * 1309 + 13849
  while n >= 65536 * 4096 do n = n - 65536 * 4096 end
  while n >= 65536 * 64 do n = n - 65536 * 64 end
  while n >= 65536 do n = n - 65536 end
  self.seed = n
  while n >= limit * 64 do n = n - limit * 64 end
  while n >= limit do n = n - limit end
  return n
end
local Ball = {}; Ball.__index = Ball
function Ball.new(random)
  local b = setmetatable({}, Ball)
  b.x = random:next(500); b.y = random:next(500)
  b.dx = random:next(300) - 150; b.dy = random:next(300) - 150
  return b
end
function Ball:size(d) if d < 0 then return -d end return d end
function Ball:move()
  self.x = self.x + self.dx; self.y = self.y + self.dy
  local hit = false
  if self.x > 500 then self.x = 500; self.dx = -self:size(self.dx); hit = true end
  if self.x < 0 then self.x = 0; self.dx = self:size(self.dx); hit = true end
  if self.y > 500 then self.y = 500; self.dy = -self:size(self.dy); hit = true end
  if self.y < 0 then self.y = 0; self.dy = self:size(self.dy); hit = true end
  return hit
end
local function run()
  local random, balls, hits = Random.new(), {}, 0
  for i = 0, 99 do balls[i + 1] = Ball.new(random) end
  for _ = 1, 50 do for _, ball in ipairs(balls) do if ball:move() then hits = hits + 1 end end end
  return hits
end
local right = true
for _ = 1, 400 do right = right and run() == 1331 end
print(right)
