-- Runs before, while and after a recorder is attached, as test_lua.py asks by lines: deep in functions, protected calls and
-- coroutines that began before, and in some that begin later.
local kept = {}
local function say(text)
  io.stdout:write(text, "\n")
  io.stdout:flush()
  return io.read("*l")
end
local function allocate(n)
  local s = ("x"):rep(n)
  kept[#kept + 1] = s
  return {n}
end
local function inside(step)
  for i = 1, 50 do
    kept[#kept + 1] = allocate(3000 + step * 1000 + i * 8)
  end
  for i = 1, 50 do
    local gone = allocate(20000 + step * 1000 + i * 8)
  end
  kept = {}
  collectgarbage()
  collectgarbage()
  return step
end
local waits = coroutine.wrap(function()
  local again = 0
  while true do
    allocate(12000 + again * 8)
    coroutine.yield(again)
    again = again + 1
  end
end)
waits()
local function resumed(step)
  for _ = 1, 20 do
    waits()
  end
  pcall(inside, step)
  local later = coroutine.wrap(function() local t = allocate(7000 + step * 8) return t end)
  later()
end
local function deep(n, step)
  if n == 0 then
    resumed(step)
    return step
  end
  local got = deep(n - 1, step)
  return got
end
local runs = coroutine.wrap(function()
  for step = 1, 3 do
    say("before")
    pcall(function()
      say("during")
      deep(10, step)
      say("after")
    end)
  end
end)
runs()
print("done")
