local function run()
  local inside = 0
  for y = 0, 199 do for x = 0, 199 do
    local cr, ci, zr, zi, n = x / 100 - 1.5, y / 100 - 1, 0, 0, 0
    while n < 100 and zr * zr + zi * zi <= 4 do local t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; n = n + 1 end
    if n == 100 then inside = inside + 1 end
  end end
  return inside
end
print(run() > 10000)
