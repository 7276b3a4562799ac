-- What host.c runs.
local function inside()
  local s = ("x"):rep(50000)
  return s
end
local function around()
  local s = host_calls(inside)
  local b = host_allocates()
  return s, b
end
local co = coroutine.wrap(function()
  local a = around()
  local n = host_nests()
  return a, n
end)
co()
local function deep(n)
  if n == 0 then
    local s = ("x"):rep(60000)
    return s
  end
  local s = deep(n - 1)
  return s
end
deep(1000)
