import { describe, expect, test } from 'vitest';
import { parseAlias } from '../../src/fabric/nics.js';
import { identify } from '../../src/world/identity.js';

describe('what a lab tells its ranks', () => {
  test('the rate and burst of a NIC are in its alias', () => {
    expect(parseAlias('weft:rate=250000000,burst=20048')).toEqual({
      rateGbps: 0.25,
      burstBytes: 20_048,
    });
    expect(parseAlias('weft:rate=1000000000')).toEqual({ rateGbps: 1 });
    expect(parseAlias('weft:management')).toEqual({ management: true });
  });

  test.for([undefined, '', 'uplink to rack 4', 'weft:rate=fast'])('%s tells nothing', (alias) => {
    expect(parseAlias(alias)).toEqual({});
  });

  test('the place of a rank is in its environment', () => {
    const env = {
      WEFT_RANK: '5',
      WEFT_SIZE: '8',
      WEFT_LOCAL_RANK: '1',
      WEFT_LOCAL_SIZE: '2',
      WEFT_MASTER: '10.77.255.1:12345',
      WEFT_JOB: 'x',
    };
    expect(identify(env)).toMatchObject({
      launcher: 'local',
      rank: 5,
      localRank: 1,
      localSize: 2,
      oneHost: false,
      hostIndex: undefined,
      masterHost: '10.77.255.1',
    });
    expect(identify({ ...env, WEFT_RANK: '1' })).toMatchObject({ hostIndex: 0 });
  });
});
