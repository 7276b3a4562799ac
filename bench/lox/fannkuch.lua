local Benchmark = {}; Benchmark.__index = Benchmark
function Benchmark:turns(hand)
  local n, cards = 0, {}
  for i = 1, #hand do cards[i] = hand[i] end
  while cards[1] ~= 1 do
    local i, j = 1, cards[1]
    while i < j do local t = cards[i]; cards[i] = cards[j]; cards[j] = t; i = i + 1; j = j - 1 end
    n = n + 1
  end
  return n
end
function Benchmark:deal(hand, size)
  if size == 1 then
    local n = self:turns(hand)
    if n > self.most then self.most = n end
    return
  end
  for _ = 1, size do
    self:deal(hand, size - 1)
    local first = hand[1]
    for i = 2, size do hand[i - 1] = hand[i] end
    hand[size] = first
  end
end
local right = true
for _ = 1, 60 do
  local b = setmetatable({most = 0}, Benchmark)
  b:deal({1, 2, 3, 4, 5, 6, 7}, 7)
  right = right and b.most == 16
end
print(right)
