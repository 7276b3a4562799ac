local function root(x)
  local r = x
  if r < 1 then r = 1 end
  local old = 0
  while old ~= r do old = r; r = (r + x / r) / 2; if r >= old and old ~= 0 then return old end end
  return r
end
local Body = {}; Body.__index = Body
function Body.new(x, y, z, vx, vy, vz, mass)
  return setmetatable({x = x, y = y, z = z, vx = vx, vy = vy, vz = vz, mass = mass}, Body)
end
function Body:pull(other, time)
  local dx, dy, dz = self.x - other.x, self.y - other.y, self.z - other.z
  local square = dx * dx + dy * dy + dz * dz
  local strength = time / (square * root(square))
  self.vx = self.vx - dx * other.mass * strength; other.vx = other.vx + dx * self.mass * strength
  self.vy = self.vy - dy * other.mass * strength; other.vy = other.vy + dy * self.mass * strength
  self.vz = self.vz - dz * other.mass * strength; other.vz = other.vz + dz * self.mass * strength
end
function Body:move(time)
  self.x = self.x + self.vx * time; self.y = self.y + self.vy * time; self.z = self.z + self.vz * time
end
function Body:energy() return self.mass * (self.vx * self.vx + self.vy * self.vy + self.vz * self.vz) / 2 end
function Body:potential(other)
  local dx, dy, dz = self.x - other.x, self.y - other.y, self.z - other.z
  return self.mass * other.mass / root(dx * dx + dy * dy + dz * dz)
end
local function energy(bodies)
  local sum = 0
  for i = 1, #bodies do
    sum = sum + bodies[i]:energy()
    for j = i + 1, #bodies do sum = sum - bodies[i]:potential(bodies[j]) end
  end
  return sum
end
local function step(bodies, time)
  for i = 1, #bodies do for j = i + 1, #bodies do bodies[i]:pull(bodies[j], time) end end
  for _, body in ipairs(bodies) do body:move(time) end
end
local function run()
  local bodies = {Body.new(0, 0, 0, 0, 0, 0, 40), Body.new(5, 0, 0.1, 0, 2.8, 0, 0.04),
                  Body.new(0, 9, 0, -2.1, 0, 0.1, 0.01), Body.new(-15, 0, 0.5, 0, -1.6, 0, 0.002),
                  Body.new(0, -30, 0, 1.1, 0, 0, 0.002)}
  local before = energy(bodies)
  for _ = 1, 500 do step(bodies, 0.005) end
  return energy(bodies) / before
end
local right = true
for _ = 1, 100 do local result = run(); right = right and result > 0.9999 and result < 1.0001 end
print(right)
