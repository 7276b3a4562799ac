local function count(n)
  local same, made = 0, ""
  for _ = 1, 20 do made = made .. "ab" end
  local other = "abababababababababababababababababababab"; local longer = other .. "a"
  for _ = 1, n do
    if "text" == "text" then same = same + 1 end
    if "text" == "texts" then same = same - 1 end
    if made == other then same = same + 1 end
    if made == longer then same = same - 1 end
    if other ~= "ab" then same = same + 1 end
  end
  return same
end
print(count(500000) == 3 * 500000)
