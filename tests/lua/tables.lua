-- Makes tables and closures at lines that test_lua.py knows, among instructions that make none.
local function make(n)
  local a = n .. "x"
  local b = 1
  local t = {n, n, n, b} -- 5
  local c
  local u = {x = a, -- 7
    y = {1, 2}, -- 8
    z = b}
  for i = 1, 3 do
    c = {} -- 11, three times
  end
  local f = function() return a end -- 13
  t.more, t.again = n, n .. "y"
  return t, u, c, f
end
for i = 1, 100 do
  make(i)
end
