-- Raises counts of hashtags in their buckets to the given ones, atomically, and only while a guard key holds the
-- expected value: so that nothing is written between a loss of data (FLUSHALL) and its repair.
-- KEYS: guard, sequence, changed; ARGV: expected value of the guard, key prefix of buckets, that of their parts, seconds
-- a bucket is kept, then for each part of a bucket: the bucket's start, of how many shards which one counted it, the
-- number n of its hashtags, and n times hashtag, count.
-- Returns false if the guard does not hold, else the number of this change.

-- Raises what the shard counted, which is kept under 'SHARDS/SHARD/HASHTAG', and returns the sum of as many shards,
-- which is kept under 'SHARDS//HASHTAG'.
local function raised_sum(parts, shards, shard, hashtag, count)
  local of_shard, of_all = shards .. '/' .. shard .. '/' .. hashtag, shards .. '//' .. hashtag
  local grown = count - tonumber(redis.call('HGET', parts, of_shard) or 0)
  if grown <= 0 then
    return tonumber(redis.call('HGET', parts, of_all) or 0)
  end
  redis.call('HSET', parts, of_shard, count)
  return redis.call('HINCRBY', parts, of_all, grown)
end

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
local sequence = redis.call('INCR', KEYS[2])
local at = 5
while at <= #ARGV do
  local start, shards, shard, number = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  local bucket, parts, gone = ARGV[2] .. start, ARGV[3] .. start, tonumber(start) + tonumber(ARGV[4])
  local last = at + 3 + 2 * number
  for i = at + 4, last, 2 do
    local hashtag, count = ARGV[i], tonumber(ARGV[i + 1])
    if shards ~= '1' then
      count = raised_sum(parts, shards, shard, hashtag, count)
    end
    local stored = tonumber(redis.call('HGET', bucket, hashtag))
    if not stored or stored < count then
      redis.call('HSET', bucket, hashtag, count)
    end
  end
  redis.call('EXPIREAT', bucket, gone)
  if shards ~= '1' then
    redis.call('EXPIREAT', parts, gone)
  end
  redis.call('ZADD', KEYS[3], sequence, start)
  at = last + 1
end
return sequence
