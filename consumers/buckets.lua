-- Raises counts of hashtags in their buckets to the given ones, atomically, and only while a guard key holds the
-- expected value: so that nothing is written between a loss of data (FLUSHALL) and its repair.
-- KEYS: guard, sequence, changed; ARGV: expected value of the guard, key prefix of buckets, seconds a bucket is kept,
-- then for each bucket: its start, the number n of its hashtags, and n times hashtag, count.
-- Returns false if the guard does not hold, else the number of this change.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
local sequence = redis.call('INCR', KEYS[2])
local at = 4
while at <= #ARGV do
  local start, count = ARGV[at], tonumber(ARGV[at + 1])
  local bucket = ARGV[2] .. start
  local last = at + 2 * count
  for i = at + 2, last, 2 do
    local stored = tonumber(redis.call('HGET', bucket, ARGV[i]))
    if not stored or stored < tonumber(ARGV[i + 1]) then
      redis.call('HSET', bucket, ARGV[i], ARGV[i + 1])
    end
  end
  redis.call('EXPIREAT', bucket, tonumber(start) + tonumber(ARGV[3]))
  redis.call('ZADD', KEYS[3], sequence, start)
  at = last + 2
end
return sequence
