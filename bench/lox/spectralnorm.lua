local function root(x) local r = x; for _ = 1, 40 do r = (r + x / r) / 2 end return r end
local Benchmark = {}; Benchmark.__index = Benchmark
function Benchmark:cell(i, j) return 1 / ((i + j) * (i + j + 1) / 2 + i + 1) end
function Benchmark:times(v)
  local result = {}
  for i = 1, #v do
    local sum = 0
    for j = 1, #v do sum = sum + self:cell(i - 1, j - 1) * v[j] end
    result[i] = sum
  end
  return result
end
function Benchmark:timesTransposed(v)
  local result = {}
  for i = 1, #v do
    local sum = 0
    for j = 1, #v do sum = sum + self:cell(j - 1, i - 1) * v[j] end
    result[i] = sum
  end
  return result
end
function Benchmark:run()
  local u, v = {}, nil
  for i = 1, 50 do u[i] = 1 end
  for _ = 1, 10 do
    v = self:timesTransposed(self:times(u))
    u = self:timesTransposed(self:times(v))
  end
  local uv, vv = 0, 0
  for i = 1, #u do uv = uv + u[i] * v[i]; vv = vv + v[i] * v[i] end
  return root(uv / vv)
end
local right, b = true, setmetatable({}, Benchmark)
for _ = 1, 30 do right = right and math.floor(b:run() * 1000000 + 0.5) == 1274194 end
print(right)
