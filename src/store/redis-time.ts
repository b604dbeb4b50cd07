// The time by which scripts in Redis judge: the server's own, so that replicas whose clocks differ agree; a test's clock where
// one is given. It must not know what is judged.

/** Opening of a script: `now` in milliseconds since the epoch, from the first argument or the server's clock. */
export const NOW = `
  local now = tonumber(ARGV[1])
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
`;

/** The first argument of such a script. */
export const timeArgument = (now: (() => number) | undefined): string =>
  now === undefined ? '' : String(now());
