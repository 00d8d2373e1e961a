import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtFolder, PageDesk, row } from './desk.js';

describe('weft serve', () => {
  const start = (args: string[]) => {
    const child = spawn(process.execPath, [join(builtFolder, '../bin/weft'), 'serve', ...args]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (text) => {
      out += text;
    });
    child.stderr.on('data', (text) => {
      err += text;
    });
    return { child, text: () => ({ out, err }) };
  };

  test('prints its address and ends by SIGINT with what following cost', async () => {
    await using desk = await PageDesk.open();
    desk.finished('x', [row(64)]);
    const { child, text } = start([desk.folder]);
    await once(child.stdout, 'data');
    const address = new URL(text().out.trim());
    expect(address.hostname).toBe('127.0.0.1');
    const bearer = { authorization: `Bearer ${address.searchParams.get('token')}` };
    await (await fetch(`${address.origin}/api/runs/x/events`, { headers: bearer })).text();
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text().err).toMatch(/0 rows shown to up to 1 viewer/);
  });

  test('says that a port is in use', async () => {
    await using desk = await PageDesk.open();
    const { child, text } = start([desk.folder, '--port', String(desk.page.port)]);
    expect((await once(child, 'close'))[0]).toBe(1);
    expect(text().err).toContain(`port ${desk.page.port} on 127.0.0.1 is in use`);
  });

  test.each([
    [['/nowhere/at/all'], 'does not exist'],
    [['.', '--port', '70000'], 'from 0 to 65535'],
    [['.', '--host', '192.0.2.1'], 'cannot listen on 192.0.2.1'],
  ])('refuses %j', async (args, message) => {
    const { child, text } = start(args);
    expect((await once(child, 'close'))[0]).toBe(2);
    expect(text().err).toContain(message);
  });

  test('announces that others can connect', async () => {
    await using desk = await PageDesk.open();
    const { child, text } = start([desk.folder, '--host', '0.0.0.0']);
    while (!text().err.includes('connect')) await sleep(20);
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(text().err).toContain('other machines can connect');
  });
});
