/** The flags of settings, by the keys that messages of the library name. */
const flags = new Map([
  ['bitsPerSecond', '--rate'],
  ['channels', '--channels'],
  ['chunkBytes', '--chunk'],
  ['congestion', '--congestion'],
  ['delayMs', '--delay'],
  ['down', '--down'],
  ['gpus', '--gpu'],
  ['grid', '--grid'],
  ['hosts', '--hosts'],
  ['iface', '--iface'],
  ['lineRateGbps', '--line-rate'],
  ['lossPercent', '--loss'],
  ['mtu', '--mtu'],
  ['name', '--name'],
  ['nics', '--nics'],
  ['producer', '--producer'],
  ['producers', '--producers'],
  ['provider', '--provider'],
  ['ranks', '--ranks'],
  ['timeoutMs', '--timeout'],
  ['window', '--window'],
]);

/** A message of the library as someone at a command line should read it: `nics` becomes --nics. */
export const withFlags = (text: string, known: ReadonlyMap<string, string> = flags): string =>
  text.replace(/`(\w+)`/g, (quoted, key: string) => known.get(key) ?? quoted);
