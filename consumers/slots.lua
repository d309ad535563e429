-- Raises tweets by slot of `sent_at_us` to the given ones. Follows count.lua.
-- ARGV: who writes, key prefix, seconds that slots are kept, then for each bucket: its start, the number n of counts, and
-- n times slot, of how many shards, which one, count.
-- Returns start and slots of those buckets, as they were before, to which another process has written since: what the
-- writer does not know.
local told = {}
local at = 4
while at <= #ARGV do
  local start, last = ARGV[at], at + 1 + 4 * tonumber(ARGV[at + 1])
  local slots = ARGV[2] .. start
  if redis.call('HGET', slots, 'by') ~= ARGV[1] then
    told[#told + 1] = {start, redis.call('HGETALL', slots)}
    redis.call('HSET', slots, 'by', ARGV[1])
  end
  for i = at + 2, last, 4 do
    raise(slots, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
  end
  redis.call('EXPIREAT', slots, tonumber(start) + tonumber(ARGV[3]))
  at = last + 1
end
return told
