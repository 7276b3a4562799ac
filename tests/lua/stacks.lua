-- Allocates strings of sizes that nobody else asks for, and says for each which functions are running, as the debug library
-- tells it: a line of `size|frame|frame...`, outermost first, for test_lua.py. A frame is `name@file:line`, or `name@[C]`.
local size, lines = 20000, {}
local outer = {} -- who resumed a coroutine; the main one is `main`
local current = "main"

-- Names by which functions are called; nil: of C, and has none.
local function frame_of(info)
  local name = info.namewhat ~= "metamethod" and info.namewhat ~= "for iterator" and info.name
  name = name and not name:find("^%(") and name
  if info.what == "C" then
    return name and name .. "@[C]"
  end
  return (info.what == "main" and "main chunk" or name or "?") .. "@" .. info.source:gsub("^[@=]", ""):gsub("^.*/", "") .. ":" .. info.currentline
end

-- Innermost first: those of this coroutine, then of those that wait for it.
local function stack_from(level)
  local frames, thread = {}, nil
  while true do
    local info = thread and debug.getinfo(thread, level, "Sln") or not thread and debug.getinfo(level + 1, "Sln")
    if info then
      if info.what ~= "tail" then
        local frame = frame_of(info)
        if frame then
          table.insert(frames, 1, frame)
        end
      end
      level = level + 1
    else
      thread, level = outer[thread or current], 0
      if not thread or thread == "main" and _VERSION == "Lua 5.1" then
        return frames
      end
    end
  end
end

function witness()
  size = size + 64
  local text, frames = ("x"):rep(size), stack_from(1)
  lines[#lines + 1] = size .. "|" .. table.concat(frames, "|") .. "|rep@[C]"
  return text
end

-- The same in a coroutine.
local main = coroutine.running() or "main"
current = main
local function resume(co, ...)
  local before = current
  outer[co], current = before, co
  local results = {coroutine.resume(co, ...)}
  current = before
  return (table.unpack or unpack)(results)
end

local function plain()
  witness()
  local a = witness()
  return a
end

local function in_protected_calls()
  local function inside()
    witness()
    error("wanted")
  end
  pcall(inside)
  xpcall(inside, function(message) witness() return message end)
  local function deeper(n)
    if n > 0 then
      pcall(deeper, n - 1)
    else
      witness()
    end
    return n
  end
  deeper(0) -- so that its name is known
  deeper(20)
end

local function in_metamethods()
  local object = setmetatable({}, {
    __index = function(_, key) witness() return key end,
    __newindex = function() witness() end,
    __add = function(a) witness() return a end,
    __concat = function() return witness() end,
    __call = function(_, n) witness() return n end,
    __lt = function() witness() return true end,
    __unm = function(a) witness() return a end})
  local x = object.field
  object.other = 1
  x = object + 1
  x = object .. "text"
  x = object(3)
  x = object < object
  x = -object
  return x
end

local function in_callbacks()
  table.sort({3, 1, 2}, function(a, b) witness() return a < b end)
  string.gsub("ab", ".", function(c) witness() return c end)
  for i in function(_, i) witness() return i < 2 and i + 1 or nil end, nil, 0 do
    witness()
  end
end

local function in_tail_calls(n)
  if n == 0 then
    witness()
    return 1
  end
  return in_tail_calls(n - 1)
end

local function in_recursion(n)
  if n == 0 then
    witness()
    return 1
  end
  return 1 + in_recursion(n - 1)
end

local function varied(...)
  witness()
  return select("#", ...)
end

local function in_coroutines()
  local function yields(n)
    witness()
    local got = coroutine.yield(n)
    witness()
    return got
  end
  local co = coroutine.create(function(n)
    witness()
    n = yields(n)
    witness()
    local inner = coroutine.create(function()
      witness()
      coroutine.yield(1)
      witness()
    end)
    resume(inner)
    witness()
    resume(inner)
    return yields(n)
  end)
  while coroutine.status(co) ~= "dead" do
    resume(co, 1)
    witness()
  end
end

local function in_protected_coroutines()
  local co = coroutine.create(function()
    local function protected()
      witness()
      coroutine.yield(1)
      witness()
      return 2
    end
    pcall(protected)
    witness()
  end)
  resume(co)
  resume(co)
end

local function in_loaded_code()
  local made = (loadstring or load)("local a = ...\nwitness()\nreturn a", "=made")
  made(1)
end

local Class = {}
Class.__index = Class
function Class.create()
  witness()
  return setmetatable({}, Class)
end
function Class:method()
  witness()
  return self
end

plain()
in_protected_calls()
in_metamethods()
in_callbacks()
in_tail_calls(5)
in_recursion(100)
varied(1, nil, 3)
in_coroutines()
if _VERSION ~= "Lua 5.1" then
  in_protected_coroutines()
end
in_loaded_code()
Class.create():method()
print(table.concat(lines, "\n"))
