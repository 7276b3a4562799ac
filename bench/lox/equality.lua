local count
function count(n)
  local same = 0
  for i = 0, n - 1 do
    if i == i then same = same + 1 end
    if i == nil then same = same - 1 end
    if nil == nil then same = same + 1 end
    if i ~= "text" then same = same + 1 end
    if "text" == "text" then same = same + 1 end
    if true ~= false then same = same + 1 end
    if i == true then same = same - 1 end
    if count == count then same = same + 1 end
    if count == i then same = same - 1 end
  end
  return same
end
print(count(400000) == 6 * 400000)
