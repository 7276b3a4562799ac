-- An editor's work: text that is made, changed and looked at, by functions of its own and by timers.
local function fill(n)
  local lines = {}
  for i = 1, n do
    lines[i] = ("line %d of %d"):format(i, n)
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
end

local function count(word)
  local n = 0
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    for _ in line:gmatch(word) do
      n = n + 1
    end
  end
  return n
end

fill(3000)
vim.cmd("silent %s/line/row/g")
local reader = coroutine.wrap(function()
  for _, word in ipairs({ "row", "line", "of", "1" }) do
    coroutine.yield(word, count(word))
  end
end)
for word, n in reader do
  io.stdout:write(word, " ", n, "\n")
end
local ticks = 0
vim.defer_fn(function()
  ticks = ticks + 1
end, 1)
vim.wait(2000, function()
  return ticks == 1
end, 1)
io.stdout:write(vim.inspect({ ticks = ticks, split = vim.split("a,b,c", ",") }), "\n")
local ok, why = pcall(error, { code = 7 })
vim.cmd(ok and "cquit 1" or ("cquit " .. why.code))
