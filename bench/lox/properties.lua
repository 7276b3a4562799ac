local Record = {}; Record.__index = Record
function Record.new()
  local self = setmetatable({}, Record)
  self.field0 = 0
  self.field1 = 1
  self.field2 = 2
  self.field3 = 3
  self.field4 = 4
  self.field5 = 5
  self.field6 = 6
  self.field7 = 7
  self.field8 = 8
  self.field9 = 9
  self.field10 = 10
  self.field11 = 11
  self.field12 = 12
  self.field13 = 13
  self.field14 = 14
  self.field15 = 15
  return self
end
function Record:get0() return self.field0 end
function Record:get1() return self.field1 end
function Record:get2() return self.field2 end
function Record:get3() return self.field3 end
function Record:get4() return self.field4 end
function Record:get5() return self.field5 end
function Record:get6() return self.field6 end
function Record:get7() return self.field7 end
function Record:get8() return self.field8 end
function Record:get9() return self.field9 end
function Record:get10() return self.field10 end
function Record:get11() return self.field11 end
function Record:get12() return self.field12 end
function Record:get13() return self.field13 end
function Record:get14() return self.field14 end
function Record:get15() return self.field15 end
function Record:turn()
  local first = self.field0
  self.field0 = self.field1
  self.field1 = self.field2
  self.field2 = self.field3
  self.field3 = self.field4
  self.field4 = self.field5
  self.field5 = self.field6
  self.field6 = self.field7
  self.field7 = self.field8
  self.field8 = self.field9
  self.field9 = self.field10
  self.field10 = self.field11
  self.field11 = self.field12
  self.field12 = self.field13
  self.field13 = self.field14
  self.field14 = self.field15
  self.field15 = first
end
local record, sum = Record.new(), 0
for _ = 1, 40000 do
  record:turn()
  sum = sum + record:get0() + record:get1() + record:get2() + record:get3() + record:get4() + record:get5() + record:get6() + record:get7() + record:get8() + record:get9() + record:get10() + record:get11() + record:get12() + record:get13() + record:get14() + record:get15()
end
print(sum == 120 * 40000)
