-- A store of things.
local json = require("json")
local M = {}

LIMIT = 10
local counter, size = 0, 1

local function helper(value, ...)
    local inner = value + 1
    return inner
end

function M.read(name)
    for key, item in pairs(M.items) do
        if key == name then
            return item
        end
    end
    for i = 1, 10 do
        counter = counter + i
    end
    return nil
end

function M:write(item)
    self.items[item.name] = item
end

M.shout = function(text)
    return string.upper(text) .. "text in quotes"
end

local lambda = function(x) return x end

function global_function(a, b)
    local function nested(c)
        return a + b + c
    end
    return nested([[long text]])
end

local tools = {
    first = function(one) return one end,
    second = 2,
}

M.deep = {}
function M.deep.under(x)
    return x
end

return M
