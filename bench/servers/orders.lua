-- What wrk sends to orders: an order of eight lines.
local lines = {}
for i = 1, 8 do
    lines[i] = string.format('{"item":"an item of a catalogue, number %d","kind":"kind %d of goods","price":%d.5,"count":%d}', i, i % 3, 7 * i, i)
end
wrk.method = "POST"
wrk.body = '{"customer":{"name":"Somebody with a name","street":"A street in a town","number":12},"lines":[' .. table.concat(lines, ",") .. "]}"
wrk.headers["Content-Type"] = "application/json"
