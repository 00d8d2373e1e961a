import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { exchangeNotice, reachableHosts } from '../../src/world/rendezvous/notice.js';

describe('the notice of rank 0', () => {
  /** A connection as hydra's proxy leaves one to a process, and the proxy, which answers by `answers`. */
  async function proxy(answers: Record<string, string>) {
    const server = createServer((socket) => {
      socket.on('data', (line) => {
        const [, command = ''] = /^cmd=(\w+)/.exec(String(line)) ?? [];
        if (answers[command] !== undefined) socket.write(`${answers[command]}\n`);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    // Before it is connected: Node would begin to read, and take answers from the addon.
    client.pause();
    await once(client, 'connect');
    const { fd } = (client as Socket & { _handle: { fd: number } })._handle;
    const close = () => {
      client.destroy();
      server.close();
    };
    return { board: { kind: 'pmi', fd } as const, [Symbol.dispose]: close };
  }
  const usual = {
    init: 'cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0',
    get_my_kvsname: 'cmd=my_kvsname kvsname=kvs_1_0',
    barrier_in: 'cmd=barrier_out',
    get: 'cmd=get_result rc=0 msg=success value=mpich:7;20001;10.0.0.1;fd00::1',
  };

  test('comes through PMI', async () => {
    using hydra = await proxy(usual);
    const notice = { jobId: 'mpich:7', port: 20_001, hosts: ['10.0.0.1', 'fd00::1'] };
    expect(await exchangeNotice(hydra.board, undefined, 5000)).toEqual(notice);
  });

  test.each([
    ['mpiexec does not know it', { get: 'cmd=get_result rc=-1 msg=key_not_found value=unknown' }],
    ['it is not ours', { get: 'cmd=get_result rc=0 value=none' }],
    ['not all ranks come', { barrier_in: undefined }],
  ])('says how to do without it when %s', async (_, answers) => {
    using hydra = await proxy({ ...usual, ...answers } as Record<string, string>);
    const hint = expect.stringMatching(/mpiexec -genv MASTER_ADDR/);
    await expect(exchangeNotice(hydra.board, undefined, 200)).rejects.toMatchObject({
      code: 'RENDEZVOUS_FAILED',
      hint,
    });
  });

  test('a goodbye is over when hydra has answered: it fails if the process is gone by then', async () => {
    const notice = new URL('../../dist/world/rendezvous/notice.js', import.meta.url);
    const program = `import { leavingBoard } from ${JSON.stringify(notice.href)};
      leavingBoard({ kind: 'pmi', fd: 3 })();`;
    const args = ['--input-type=module', '-e', program];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    const line = child.stdio[3] as Duplex;
    const order: string[] = [];
    const exited = once(child, 'exit').then(([code]) => order.push(`exit ${code}`));
    expect(String((await once(line, 'data'))[0])).toBe('cmd=finalize\n');
    await sleep(100);
    order.push('answer');
    line.write('cmd=finalize_ack\n');
    await exited;
    expect(order).toEqual(['answer', 'exit 0']);
  });

  test('is looked for at none of our own addresses, unless rank 0 is here', () => {
    const at = (address: string) => [{ address, family: 'IPv4', internal: false }];
    const interfaces = { eth0: at('10.0.0.2'), docker0: at('172.17.0.1') } as never;
    expect(reachableHosts({ hosts: ['172.17.0.1', '10.0.0.1'] }, interfaces)).toEqual(['10.0.0.1']);
    expect(reachableHosts({ hosts: ['10.0.0.2'] }, interfaces)).toEqual(['10.0.0.2']);
  });
});
