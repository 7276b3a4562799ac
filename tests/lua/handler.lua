-- What nginx answers by: a page made in a coroutine, whose allocations have lines of their own.
if ngx.var.arg_exact then
  jit.off(true, true)
end

local function row(i)
  return { id = i, name = "name " .. i }
end

local function page(n)
  local rows = {}
  for i = 1, n do
    rows[i] = row(i).name
  end
  return table.concat(rows, "\n")
end

local made = coroutine.create(function()
  local text = page(200)
  return text
end)
local _, text = coroutine.resume(made)
ngx.say(#text)
