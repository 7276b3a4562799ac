local Ant = {}; Ant.__index = Ant
function Ant.new() return setmetatable({count = 0}, Ant) end
function Ant:ant() return self.count end
function Ant:any() return 0 end
local Bear = {}; Bear.__index = Bear
function Bear.new() return setmetatable({count = 1}, Bear) end
function Bear:bear() return self.count end
function Bear:any() return 1 end
local Cat = {}; Cat.__index = Cat
function Cat.new() return setmetatable({count = 2}, Cat) end
function Cat:cat() return self.count end
function Cat:any() return 2 end
local Dog = {}; Dog.__index = Dog
function Dog.new() return setmetatable({count = 3}, Dog) end
function Dog:dog() return self.count end
function Dog:any() return 3 end
local Eel = {}; Eel.__index = Eel
function Eel.new() return setmetatable({count = 4}, Eel) end
function Eel:eel() return self.count end
function Eel:any() return 4 end
local Fox = {}; Fox.__index = Fox
function Fox.new() return setmetatable({count = 5}, Fox) end
function Fox:fox() return self.count end
function Fox:any() return 5 end
local all = {Ant.new(), Bear.new(), Cat.new(), Dog.new(), Eel.new(), Fox.new()}
local Zoo = {}; Zoo.__index = Zoo
function Zoo.new() return setmetatable({ant = all[1], bear = all[2], cat = all[3], dog = all[4], eel = all[5], fox = all[6]}, Zoo) end
function Zoo:sum() return self.ant:ant() + self.bear:bear() + self.cat:cat() + self.dog:dog() + self.eel:eel() + self.fox:fox() end
local zoo, sum = Zoo.new(), 0
for _ = 1, 100000 do sum = sum + zoo:sum() end
for _ = 1, 100000 do for k = 1, 6 do sum = sum + all[k]:any() end end
print(sum == 2 * 15 * 100000)
