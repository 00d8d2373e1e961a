/// <reference lib="dom" />
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';

const executablePath = process.env.WEFT_CHROMIUM ?? '/usr/bin/chromium';
/** Why browser tests are skipped, if they are. */
export const noBrowser = existsSync(executablePath) ? undefined : `no browser at ${executablePath}`;

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser;

/** One browser for the tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: flags });
  });
  afterAll(() => browser.close());
}

/** A tab that remembers everything that went wrong in it. */
export class Tab implements AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, exceptions, violations of the policy. */
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => this.requests.push(request.url()));
  }

  static async open(options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await browser.newContext({
      viewport: { width: 1200, height: 900 },
      ...options,
    });
    context.setDefaultTimeout(30_000);
    await context.addInitScript(watchLayout);
    return new Tab(context, await context.newPage());
  }

  /** How much the layout moved by itself, as browsers score it. */
  layoutShift(): Promise<number> {
    return this.page.evaluate(() => (window as unknown as { layoutShift: number }).layoutShift);
  }

  /** Grave findings of axe, in words. */
  async violations(): Promise<string[]> {
    await this.page.evaluate(axeSource);
    const found = await this.page.evaluate(async () => {
      type Result = { violations: { id: string; impact: string; nodes: { html: string }[] }[] };
      const { axe } = window as unknown as { axe: { run(): Promise<Result> } };
      return (await axe.run()).violations.map(({ id, impact, nodes }) => ({
        impact,
        text: `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
      }));
    });
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ text }) => text);
  }

  /** No part is wider than the window. */
  async expectNoSideways(): Promise<void> {
    const wider = await this.page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(wider).toBeLessThanOrEqual(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

function watchLayout(): void {
  const kept = window as unknown as { layoutShift: number };
  kept.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { value, hadRecentInput } = entry as unknown as {
        value: number;
        hadRecentInput: boolean;
      };
      if (!hadRecentInput) kept.layoutShift += value;
    }
  }).observe({ type: 'layout-shift', buffered: true });
}
