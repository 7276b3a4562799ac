-- Reads sums by a grammar that lpeg, which is written in C, has compiled, and calls functions of Lua from there.
local lpeg = require "lpeg"
local P, R, S, V, C, Ct = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C, lpeg.Ct

local function tree(parts)
  local left = parts[1]
  for i = 2, #parts, 2 do
    left = { parts[i], left, parts[i + 1] }
  end
  return left
end

local space = S(" \n") ^ 0
local number = C(R("09") ^ 1) / tonumber * space
local grammar = P({
  "sum",
  sum = Ct(V("product") * (C(S("+-")) * space * V("product")) ^ 0) / tree,
  product = Ct(V("one") * (C(S("*%")) * space * V("one")) ^ 0) / tree,
  one = number + P("(") * space * V("sum") * P(")") * space,
}) * -1

local function value(node)
  if type(node) == "number" then
    return node
  end
  local a, b = value(node[2]), value(node[3])
  return node[1] == "+" and a + b or node[1] == "-" and a - b or node[1] == "*" and a * b or a % b
end

local text = {}
for i = 1, 2000 do
  text[i] = ("(%d + %d * 3) %% 7"):format(i, i % 13)
end
print(value(grammar:match(table.concat(text, " + "))), grammar:match("1 + "))
