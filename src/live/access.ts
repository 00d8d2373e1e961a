import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { WeftError } from '../errors.js';
import { refusalPage } from './shell.js';

export const newToken = (): string => randomBytes(24).toString('base64url');

const fewestCharacters = 16;

/** A token that was chosen: long enough, and fit for an address. */
export function checkToken(token: string): string {
  if (/^[\w-]+$/.test(token) && token.length >= fewestCharacters) return token;
  throw new WeftError('BAD_USAGE', 'WEFT_PAGE_TOKEN is not a valid token', {
    hint: `Use at least ${fewestCharacters} letters, digits, - or _, or unset it to get a random token.`,
  });
}

/** No inline script or style, nothing from elsewhere, in nobody's frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const withSafeHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('Content-Security-Policy', policy);
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
  c.header('Cross-Origin-Opener-Policy', 'same-origin');
  c.header('Cross-Origin-Resource-Policy', 'same-origin');
  if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
};

export const readersOnly: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  c.header('Allow', 'GET, HEAD');
  return c.text('Only GET and HEAD are allowed.\n', 405);
};

/**
 * A foreign name that resolves to us would let its page read ours (DNS rebinding). Such an attack has a name of its
 * own in the Host header: addresses are safe, and so are the names we know to be ours.
 */
export function knownHosts(host: string): MiddlewareHandler {
  const names = new Set(['localhost', hostname().toLowerCase(), host.toLowerCase()]);
  return async (c, next) => {
    const asked = (c.req.header('host') ?? '').toLowerCase().replace(/:\d*$/, '');
    if (names.has(asked) || isIP(asked.replace(/^\[(.*)\]$/, '$1')) !== 0) return next();
    return c.text('Unknown host name.\n', 403);
  };
}

/** The URL's token, once, for a cookie; then the cookie. Programs may send `Authorization: Bearer TOKEN`. */
export function tokenGuard(token: string, port: () => number): MiddlewareHandler {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const same = (a: string | undefined, b: string) =>
    a !== undefined && timingSafeEqual(digest(a), digest(b));
  // Cookies are shared by all ports of a host; and the token itself stays out of the cookie jar.
  const cookieName = () => `weft-page-${port()}`;
  const cookie = createHmac('sha256', token).update('weft page cookie').digest('base64url');
  return async (c, next) => {
    const asked = c.req.query('token');
    if (same(asked, token)) {
      setCookie(c, cookieName(), cookie, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return c.redirect(withoutToken(c), 303);
    }
    const bearer = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
    if (asked === undefined && (same(getCookie(c, cookieName()), cookie) || same(bearer, token))) {
      return next();
    }
    return c.html(refusalPage(), 401);
  };
}

function withoutToken(c: Context): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete('token');
  // Two slashes at the beginning would lead to another host.
  const path = `/${pathname.replace(/^[/\\]+/, '')}`;
  return searchParams.size === 0 ? path : `${path}?${searchParams}`;
}
