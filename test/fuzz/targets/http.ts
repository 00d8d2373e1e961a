import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type LivePage, startPage } from '../../../src/live/server.js';
import { packageRoot } from '../../../src/package-root.js';
import { Dice } from '../dice.js';
import { mutateText } from '../mutate.js';
import type { Target } from '../target.js';
import { brokenRun } from './run-files.js';

const token = 'a-token-only-for-tests';
const bearer = `Authorization: Bearer ${token}\r\n`;
const request = (path: string, more = bearer) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`;

const good = [
  ...['/', '/new', '/run/run-0', '/compare', '/history', '/assets/main.js', '/nothing'],
  ...['/api/runs', '/api/runs?from=1&count=2', '/api/history', '/api/history/row?id=x'],
  ...['/api/compare?a=run-0&b=run-1', '/api/runs/run-1/events', '/api/runs/events'],
].map((path) => request(path));
good.push(request(`/?token=${token}`, ''), request('/api/runs', 'Cookie: weft-page-1=x\r\n'));
const words = [
  ...['POST', 'HEAD', 'OPTIONS', 'HTTP/1.0', 'Host: evil.example', '\r\n', '\r\n\r\n', '%2e%2e%2f'],
  ...['%00', '%ff', 'run-3', 'Last-Event-ID: 0:5\r\n', 'Transfer-Encoding: chunked\r\n', '?token='],
  ...['Content-Length: 9999999999\r\n', 'Expect: 100-continue\r\n', 'Upgrade: websocket\r\n'],
];

let page: LivePage;

/** What a server answers, as far as it comes soon: streams of events have no end. */
function ask(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(page.port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    // An unfinished request gets no answer.
    const timer = setTimeout(done, 50);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (/^HTTP\/1\.1 \d+ .*\r\n\r\n/s.test(text)) done();
    });
    socket.on('close', done).on('error', () => {});
  });
}

export const http: Target = {
  name: 'http',
  share: 30,
  open: async () => {
    const folder = join(process.cwd(), 'runs');
    mkdirSync(folder);
    for (let i = 0; i < 40; i++) {
      writeFileSync(join(folder, `run-${i}.jsonl`), brokenRun(new Dice(1, i)));
    }
    page = await startPage({ folder, token, builtFolder: join(packageRoot, 'dist') });
    return () => page.close();
  },
  make: (dice) => {
    const one = dice.pick(good).replace('run-1', `run-${dice.below(40)}`);
    const bytes = dice.chance(0.1) ? one : mutateText(dice, one, words);
    return {
      shown: bytes,
      run: async () => {
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await ask(bytes))?.[1] ?? 0);
        if (status >= 500) throw new Error(`the page answered ${status}`);
        if (status === 0 || status >= 400) throw new Refused(String(status));
      },
      isRefusal: (error) => error instanceof Refused,
    };
  },
};

class Refused extends Error {}
