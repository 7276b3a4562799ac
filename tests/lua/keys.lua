-- Calls functions by keys that are not names: such functions have no name.
local list, key = {}, nil
local function by_variable()
  local text = ("v"):rep(30000)
  return text
end
local function by_number()
  local text = ("n"):rep(40000)
  return text
end
local function by_global()
  local text = ("g"):rep(50000)
  return text
end
list.a, list[1], another = by_variable, by_number, by_global
table_of_lists = {list = list}
for _, k in ipairs({"a"}) do
  key = k
  table_of_lists.list[key]()
end
table_of_lists.list[1]()
for _, k in ipairs({"another"}) do
  key = k
  _G[key]()
end
