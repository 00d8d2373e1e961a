import { connect } from 'node:net';
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { checkToken } from '../../src/live/access.js';
import { loadAssets } from '../../src/live/assets.js';
import { builtFolder, PageDesk, row, token } from './desk.js';

describe('who may look', () => {
  test.each(['/', '/run/x', '/api/runs', '/api/runs/events', '/assets/page.css', '/nothing'])(
    'nobody without the token: %s',
    async (path) => {
      await using desk = await PageDesk.open();
      expect((await desk.raw(path)).status).toBe(401);
      expect((await desk.raw(path, { cookie: 'weft-page=x' })).status).toBe(401);
      expect((await desk.raw(path, { authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await desk.raw(`${path}?token=wrong`)).status).toBe(401);
      expect((await desk.raw(`${path}?token=`)).status).toBe(401);
    },
  );

  test('the token becomes a cookie and leaves the address', async () => {
    await using desk = await PageDesk.open();
    const first = await desk.raw(`/compare?a=1&token=${token}&b=2`);
    expect(first.status).toBe(303);
    expect(first.headers.location).toBe('/compare?a=1&b=2');
    const [cookie = ''] = first.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    expect(cookie).not.toContain(token);
    const pair = cookie.split(';')[0]!;
    expect((await desk.raw('/compare?a=1&b=2', { cookie: pair })).status).toBe(200);
    expect((await desk.raw('/', { cookie: `${pair}x` })).status).toBe(401);
  });

  test('the way back after the token stays on this host', async () => {
    await using desk = await PageDesk.open();
    const answers = await Promise.all(
      ['//evil.example', '/\\evil.example', '///evil.example/x'].map((path) =>
        desk.raw(`${path}?token=${token}`),
      ),
    );
    expect(answers.some(({ status }) => status === 303)).toBe(true);
    for (const { status, headers } of answers) {
      if (status === 303) expect(headers.location).toMatch(/^\/(?![/\\])/);
      else expect([status >= 400, headers.location]).toEqual([true, undefined]);
    }
  });

  test('two pages do not share cookies', async () => {
    await using a = await PageDesk.open();
    await using b = await PageDesk.open({ token: 'another-token-for-tests' });
    const { headers } = await a.raw(`/?token=${token}`);
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    expect((await b.raw('/', { cookie })).status).toBe(401);
  });

  test('a page that starts again with its token and port knows its viewers', async () => {
    await using desk = await PageDesk.open();
    const { headers } = await desk.raw(`/?token=${token}`);
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    const { port } = desk.page;
    await desk.page.close();
    await desk.serve({ port });
    expect((await desk.raw('/', { cookie })).status).toBe(200);
  });

  test.each(['short', 'with spaces in it 123', 'umlaut-ä-1234567890123'])(
    'a token like "%s" is refused',
    (text) => {
      expect(() => checkToken(text)).toThrow('not a valid token');
    },
  );
});

describe('a request', () => {
  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'x'])(
    'for the host "%s" is refused',
    async (host) => {
      await using desk = await PageDesk.open();
      expect((await desk.get('/', { host })).status).toBe(403);
    },
  );

  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1:1', '[::1]:8080', '10.1.2.3', hostname()])(
    'for the host "%s" is answered',
    async (host) => {
      await using desk = await PageDesk.open();
      expect((await desk.get('/', { host })).status).toBe(200);
    },
  );

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('with %s is refused', async (method) => {
    await using desk = await PageDesk.open();
    const { status, headers } = await desk.get('/', {}, method);
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, HEAD');
  });

  test('with HEAD has an answer without a body', async () => {
    await using desk = await PageDesk.open();
    expect(await desk.get('/', {}, 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  test('with a huge header is refused, and the next one answered', async () => {
    await using desk = await PageDesk.open();
    expect((await desk.get('/', { cookie: 'x'.repeat(100_000) })).status).toBe(431);
    expect((await desk.get('/')).status).toBe(200);
  });

  test('of garbage is refused, and the next one answered', async () => {
    await using desk = await PageDesk.open();
    const garbage = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 37 + 11) % 256));
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(desk.page.port, '127.0.0.1', () => socket.write(garbage));
      socket.on('data', (piece) => {
        text += piece;
      });
      socket.on('close', () => resolve(text)).on('error', () => {});
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect((await desk.get('/')).status).toBe(200);
  });

  test('outside the folder finds nothing', async () => {
    await using desk = await PageDesk.open();
    desk.finished('inside', [row(64)]);
    for (const up of ['../', '..%2f', '%2e%2e%2f', '%252e%252e%252f', '..%5c', '....//', '/']) {
      for (const target of [
        `${up.repeat(6)}etc/passwd`,
        `${up}package.json`,
        `${up}inside.jsonl`,
      ]) {
        for (const path of [`/assets/${target}`, `/api/runs/${target}/events`]) {
          const { status, text } = await desk.get(path);
          expect([400, 404]).toContain(status);
          expect(text).not.toContain('root:');
        }
      }
    }
    expect((await desk.get('/api/runs/%00/events')).status).toBe(404);
    expect((await desk.get('/api/runs/%ff%fe/events')).status).toBeGreaterThanOrEqual(400);
    expect((await desk.get('/api/runs/inside/events')).status).toBe(200);
  });
});

test('every answer has a strict policy', async () => {
  await using desk = await PageDesk.open();
  for (const { headers } of [
    await desk.get('/'),
    await desk.raw('/'),
    await desk.get('/nothing'),
  ]) {
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|http/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
  }
});

test('no answer lets another origin read it', async () => {
  await using desk = await PageDesk.open();
  desk.finished('one', [row(64)]);
  const foreign = { origin: 'http://evil.example', 'access-control-request-method': 'GET' };
  for (const answer of [
    await desk.get('/', foreign),
    await desk.get('/api/runs', foreign),
    await desk.get('/assets/main.js', foreign),
    await desk.raw('/', foreign),
    await desk.get('/', foreign, 'OPTIONS'),
  ]) {
    expect(Object.keys(answer.headers).filter((name) => /^access-control-/.test(name))).toEqual([]);
  }
});

test('the page serves what it imports, and nothing else of the program', async () => {
  await using desk = await PageDesk.open();
  expect((await desk.get('/assets/main.js')).headers['content-type']).toMatch(/javascript/);
  for (const path of ['live/page/main.js', 'live/server.js', 'cli/main.js', '']) {
    expect((await desk.get(`/assets/${path}`)).status).toBe(404);
  }
});

test('the script is one file that imports nothing, with the notices of what is in it', async () => {
  const { body } = (await loadAssets(builtFolder)).get('main.js')!;
  const script = new TextDecoder().decode(body);
  expect(script).not.toMatch(/\bimport\b[^;"']{0,200}["'][^"']+["']/);
  expect(script).toContain('Apache ECharts\nCopyright');
  expect(script).toContain('Baidu Inc.');
});

test('what the browser has already is not sent again', async () => {
  await using desk = await PageDesk.open();
  const { headers } = await desk.get('/assets/main.js');
  const again = await desk.get('/assets/main.js', { 'if-none-match': String(headers.etag) });
  expect(again).toMatchObject({ status: 304, text: '' });
});
