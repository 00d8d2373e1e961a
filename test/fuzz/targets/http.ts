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

/** An unfinished request gets no answer: it is ended after this time. */
const unfinishedMs = 50;
/** Longer than any answer or end takes on a busy machine; the second time, longer than any pause of it. */
const patienceMs = [10_000, 15_000];

/** Whether the head of the request is whole: then an answer must come. */
const isWhole = (bytes: string): boolean => /\r\n\r\n/.test(bytes.replace(/^[\r\n]+/, ''));

/** The head of what a server answers: streams of events have no end. Undefined: neither answer nor end came. */
function ask(bytes: string, withinMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(page.port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const done = (answer: string | undefined) => {
      clearTimeout(ending);
      clearTimeout(hung);
      socket.destroy();
      resolve(answer);
    };
    const ending = setTimeout(() => isWhole(bytes) || socket.end(), unfinishedMs);
    const hung = setTimeout(done, withinMs, undefined);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (/^HTTP\/1\.1 \d+ .*\r\n\r\n/s.test(text)) done(text);
    });
    socket.on('close', () => done(text)).on('error', () => {});
  });
}

async function answerTo(bytes: string): Promise<string> {
  for (const withinMs of patienceMs) {
    const answer = await ask(bytes, withinMs);
    if (answer !== undefined) return answer;
  }
  throw new Error('the page neither answers nor ends the connection');
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
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await answerTo(bytes))?.[1] ?? 0);
        if (status >= 500) throw new Error(`the page answered ${status}`);
        if (status === 0 || status >= 400) throw new Refused(String(status));
      },
      isRefusal: (error) => error instanceof Refused,
    };
  },
};

class Refused extends Error {}
