import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { WeftError } from '../errors.js';
import { knownHosts, newToken, readersOnly, tokenGuard, withSafeHeaders } from './access.js';
import { type Asset, loadAssets } from './assets.js';
import { compareLogs } from './comparison.js';
import { limitConnections } from './crowd.js';
import { listEvents, runEvents, streamOf } from './events.js';
import { type CostReport, FollowCost } from './follow-cost.js';
import { HistoryDesk } from './history.js';
import { listingOf, type Slice, wholeList } from './listing.js';
import { RunFolder } from './run-folder.js';
import { pageShell } from './shell.js';

export interface ServeOptions {
  readonly folder: string;
  /** Default: loopback only. */
  readonly host?: string;
  /** Default 0: any that is free. */
  readonly port?: number;
  /** Default: a new one. */
  readonly token?: string;
  readonly builtFolder: string;
  /** At a time. Default: 1,024. */
  readonly mostConnections?: number;
  /** Reads the folder and works out its history before anybody asks. */
  readonly prepare?: boolean;
}

/** A list that is asked for at once comes before the history. */
const historyLaterMs = 2_000;

/** A page over a folder of runs. Who starts it closes it. */
export interface LivePage extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** With the token, once for each browser. */
  address(path?: string, query?: Readonly<Record<string, string>>): string;
  readonly cost: FollowCost;
  /** Pages that are connected get what there is, at most for `graceMs`; then all connections end. */
  close(graceMs?: number): Promise<CostReport | undefined>;
}

export async function startPage(options: ServeOptions): Promise<LivePage> {
  const { host = '127.0.0.1', port = 0, token = newToken(), builtFolder } = options;
  const folder = await RunFolder.open(options.folder);
  const assets = await loadAssets(builtFolder);
  const cost = new FollowCost(() => folder.rows);
  const stop = new AbortController();
  const followers = { count: 0 };
  let bound = port;
  const access = { token, host, port: () => bound };
  const history = new HistoryDesk(folder);
  const app = appOf({ folder, history, assets, cost, followers, access, stop: stop.signal });
  const server = await listening(app, host, port);
  limitConnections(server, options.mostConnections ?? 1024);
  bound = (server.address() as AddressInfo).port;
  if (options.prepare) {
    void folder.refresh();
    // Who asks for the history hears what went wrong.
    setTimeout(() => void history.answer().catch(() => {}), historyLaterMs).unref();
  }
  const close = async (graceMs = 0) => {
    if (graceMs > 0) await settled(folder, followers, graceMs);
    const report = cost.report();
    stop.abort();
    folder[Symbol.dispose]();
    await ended(server);
    return report;
  };
  return {
    host,
    port: bound,
    cost,
    address: (path = '/', query = {}) =>
      `http://${shownHost(host)}:${bound}${path}?${new URLSearchParams({ ...query, token })}`,
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** A wildcard is no address to go to. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

interface App {
  readonly folder: RunFolder;
  readonly history: HistoryDesk;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly cost: FollowCost;
  /** Pages that follow a run which has not ended for them. */
  readonly followers: { count: number };
  readonly access: { readonly token: string; readonly host: string; readonly port: () => number };
  readonly stop: AbortSignal;
}

function appOf({ folder, history, assets, cost, followers, access, stop }: App): Hono {
  const app = new Hono();
  const guard = tokenGuard(access.token, access.port);
  app.use(withSafeHeaders, readersOnly, knownHosts(access.host), guard);
  for (const path of ['/', '/new', '/run/:key', '/compare', '/history']) {
    app.get(path, (c) => c.html(pageShell()));
  }
  app.get('/assets/*', (c) => assetAnswer(c, assets));
  const stream = (events: Parameters<typeof streamOf>[0], follower = 0) => {
    const begin = () => {
      const parts = [folder.follow(), cost.viewer()];
      followers.count += follower;
      return once(() => {
        followers.count -= follower;
        for (const end of parts) end();
      });
    };
    const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' };
    return new Response(streamOf(events, begin, stop), { headers });
  };
  app.get('/api/runs', async (c) => {
    await folder.refresh();
    return c.json(listingOf(folder, sliceOf(c)));
  });
  app.get('/api/runs/events', (c) => stream((signal) => listEvents(folder, sliceOf(c), signal)));
  app.get('/api/history', async (c) => c.json(await history.answer()));
  app.get('/api/history/row', async (c) => {
    const chart = await history.row(c.req.query('id') ?? '');
    return chart === undefined ? c.text('No such row.\n', 404) : c.json(chart);
  });
  app.get('/api/runs/:key/events', async (c) => {
    const run = await folder.lookUp(c.req.param('key'));
    if (run === undefined) return c.text('No such run.\n', 404);
    return stream((signal) => runEvents(run, c.req.header('last-event-id'), signal), 1);
  });
  app.get('/api/compare', async (c) => {
    const keys = [c.req.query('a') ?? '', c.req.query('b') ?? ''];
    const [a, b] = await Promise.all(keys.map((key) => folder.lookUp(key)));
    if (a === undefined || b === undefined) return c.text('No such run.\n', 404);
    return c.json(compareLogs(a.log, b.log, folder.indexed));
  });
  app.notFound((c) => c.text('Not found.\n', 404));
  app.onError((_, c) => c.text('Internal error.\n', 500));
  return app;
}

/** `?from=100&count=50`; all runs where nothing is said. */
function sliceOf(c: Context): Slice {
  const number = (name: 'from' | 'count') => {
    const value = Number(c.req.query(name) ?? Number.NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : wholeList[name];
  };
  return { from: number('from'), count: number('count') };
}

function assetAnswer(c: Context, assets: App['assets']) {
  const asset = assets.get(c.req.path.slice('/assets/'.length));
  if (asset === undefined) return c.notFound();
  c.header('Cache-Control', 'no-cache');
  c.header('ETag', asset.etag);
  if (c.req.header('if-none-match') === asset.etag) return c.body(null, 304);
  return c.body(asset.body, 200, { 'Content-Type': asset.type });
}

function once(end: () => void): () => void {
  let done = false;
  return () => {
    if (!done) end();
    done = true;
  };
}

function listening(app: Hono, host: string, port: number): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }, () => {
      server.off('error', failed);
      resolve(server);
    });
    const failed = (cause: NodeJS.ErrnoException) => reject(listenError(host, port, cause));
    server.once('error', failed);
  });
}

function listenError(host: string, port: number, cause: NodeJS.ErrnoException): WeftError {
  if (cause.code === 'EADDRINUSE') {
    return new WeftError('PORT_IN_USE', `port ${port} on ${host} is in use`, {
      hint: 'Choose another with `port`, or leave it out to use any free port.',
      cause,
    });
  }
  return new WeftError('BAD_USAGE', `cannot listen on ${host} port ${port}: ${cause.message}`, {
    hint: 'Use an address of this machine with `host` and a port you may use with `port`.',
    cause,
  });
}

/** Until every page that follows a run has its end, or time is up. */
async function settled(
  folder: RunFolder,
  followers: { readonly count: number },
  graceMs: number,
): Promise<void> {
  const end = Date.now() + graceMs;
  await folder.refresh();
  // At least once: what was written last must leave before connections are cut.
  do {
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (followers.count > 0 && Date.now() < end);
}

function ended(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}
