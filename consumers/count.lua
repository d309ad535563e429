-- A count as Redis keeps it, 'HIGHEST SHARDS:COUNT,COUNT… …': the highest of its sums, and after it, of each number of
-- shards above 1, what each shard has counted. So it takes one field, however many shards there are.

-- The stored count with what the given one of so many shards has counted: that never falls, and neither does the sum.
local function raised(stored, shards, shard, count)
  local plain = tonumber(stored)
  if plain and shards == 1 then
    return tostring(math.max(plain, count))
  end
  local highest, parts = string.match(stored, '^(%d+)(.*)$')
  if shards > 1 then
    local before, own, after = string.match(parts, '^(.-) ' .. shards .. ':([%d,]+)(.*)$')
    local counts, sum = {}, 0
    for each in string.gmatch(own or string.rep('0,', shards), '%d+') do
      counts[#counts + 1] = tonumber(each)
    end
    counts[shard + 1] = math.max(counts[shard + 1], count)
    for _, each in ipairs(counts) do
      sum = sum + each
    end
    parts = (before or parts) .. ' ' .. shards .. ':' .. table.concat(counts, ',') .. (after or '')
    count = sum
  end
  return math.max(tonumber(highest), count) .. parts
end

local function raise(key, field, shards, shard, count)
  local stored = redis.call('HGET', key, field)
  local now = raised(stored or '0', tonumber(shards), tonumber(shard), tonumber(count))
  if now ~= stored then
    redis.call('HSET', key, field, now)
  end
end
