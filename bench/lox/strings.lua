local same, text = 0, ""
for i = 0, 399999 do
  if i - 100 * math.floor(i / 100 - 0.5 + 0.5) == 0 then text = "" end
  text = text .. "a" .. "b"
  if text == "ab" then same = same + 1 end
end
print(same == 4000)
