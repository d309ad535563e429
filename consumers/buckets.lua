-- Raises counts of hashtags in their buckets to the given ones, atomically, and only while a guard key holds the
-- expected value: so that nothing is written between a loss of data (FLUSHALL) and its repair. Follows count.lua.
-- KEYS: guard, sequence, changed; ARGV: expected value of the guard, key prefix of buckets, seconds a bucket is kept,
-- then for each part of a bucket: the bucket's start, of how many shards which one counted it, the number n of its
-- hashtags, and n times hashtag, count.
-- Returns false if the guard does not hold, else the number of this change.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
local sequence = redis.call('INCR', KEYS[2])
local at = 4
while at <= #ARGV do
  local start, shards, shard, number = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  local bucket, last = ARGV[2] .. start, at + 3 + 2 * number
  for i = at + 4, last, 2 do
    raise(bucket, ARGV[i], shards, shard, ARGV[i + 1])
  end
  redis.call('EXPIREAT', bucket, tonumber(start) + tonumber(ARGV[3]))
  redis.call('ZADD', KEYS[3], sequence, start)
  at = last + 1
end
return sequence
