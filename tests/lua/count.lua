-- Keeps much, and says how many bytes Lua has of malloc in the end, then leaves without freeing them.
local kept = {}
for i = 1, 2000 do
  kept[i] = {name = "entry " .. i, i, i + 1}
end
collectgarbage()
collectgarbage()
collectgarbage("stop")
io.stdout:write(string.format("%d\n", collectgarbage("count") * 1024))
io.stdout:flush()
os.exit(0, false)
