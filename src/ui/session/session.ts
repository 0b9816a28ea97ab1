/**
 * The connection of the page to the server that it came from, and what its user may do there.
 * - The token is kept for this tab alone (`sessionStorage`). It is taken out of the address at once.
 * - Requests that only read wait as long as the server is away; the page says so meanwhile. What changes something is
 *   given up after a while, and its sender told.
 */
import { computed, signal } from '@preact/signals';
import type { Answers, PathIds } from '../../client/http/answers.ts';
import { type HttpConnection, toHttpConnection } from '../../client/http/http-place.ts';
import {
  callRoute,
  isTransient,
  pauseFor,
  type RetryableRequest,
  requestFile,
  UPLOAD_TIMEOUT_MS,
} from '../../client/http/patience.ts';
import { takeToken } from '../address.ts';

const KEPT = 'everthread-token';
const ACTION_PATIENCE_MS = 15_000;
const AGAIN_MS = 1000;

export const API_URL = location.origin + location.pathname.replace(/\/ui\/?$/, '');
const VERSION = document.querySelector('meta[name=version]')?.getAttribute('content') ?? '';

type Scope = 'read' | 'write' | 'answer' | 'admin';

export type Caller = Answers['GET /v1/whoami'];
export type ServerFacts = Answers['GET /v1/server'];

export type Session =
  | { readonly kind: 'opening' }
  /** `why`: what the server said to the token that was given. */
  | { readonly kind: 'refused'; readonly code: string; readonly why: string; readonly hasToken: boolean }
  | { readonly kind: 'open'; readonly caller: Caller; readonly server: ServerFacts };

export const session = signal<Session>({ kind: 'opening' });
/** False while the server cannot be reached. */
export const online = signal(true);
/** True if the server has another version of this page. */
export const outdated = signal(false);
export const hasToken = signal(false);

export const serverFacts = computed(() => (session.value.kind === 'open' ? session.value.server : null));

export function may(scope: Scope): boolean {
  if (session.value.kind !== 'open') return false;
  const { scopes } = session.value.caller;
  return scopes.includes(scope) || scopes.includes('admin');
}

const never = new AbortController().signal;
let reading: HttpConnection;
let acting: HttpConnection;

/** Notes whether the server is there. A response of a proxy in front of it is none of the server's. */
const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init);
    const isProxy = response.status >= 502 && !response.headers.get('content-type')?.includes('problem+json');
    if (!online.value && !isProxy) void noteVersion();
    online.value = !isProxy;
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) online.value = false;
    throw error;
  }
};

function connect(token: string | null): void {
  const given = { url: API_URL, fetch: watchedFetch, ...(token && { token }) };
  reading = toHttpConnection({ ...given, patienceMs: Number.POSITIVE_INFINITY }, never);
  acting = toHttpConnection({ ...given, patienceMs: ACTION_PATIENCE_MS }, never);
  hasToken.value = token !== null;
}

/** The connection for streams. */
export const connection = (): HttpConnection => reading;

/** Takes a token out of the address, if there is one. */
export function takeAddressToken(): string | null {
  const { token, rest } = takeToken(location.hash);
  if (token !== null) history.replaceState(null, '', `${location.pathname}${rest}`);
  return token;
}

/** Finds out what the token of the address permits, or the one that this tab has. */
export async function openSession(): Promise<void> {
  await useToken(takeAddressToken() ?? sessionStorage.getItem(KEPT));
}

/** `token`: null to go on without one. */
export async function useToken(token: string | null): Promise<void> {
  if (token === null) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, token);
  connect(token);
  try {
    const [caller, server] = await Promise.all([ask('GET /v1/whoami', {}), ask('GET /v1/server', {})]);
    session.value = { kind: 'open', caller, server };
  } catch (error) {
    session.value = { kind: 'refused', code: codeOf(error), why: messageOf(error), hasToken: token !== null };
  }
}

export const codeOf = (error: unknown): string => (error as { code?: string } | null)?.code ?? '';
export const messageOf = (error: unknown): string =>
  (error as { message?: string } | null)?.message ?? String(error);

async function noteVersion(): Promise<void> {
  const response = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(() => null);
  // A tag without its closing quote was cut.
  const [, version = VERSION] = /"(.+)"/.exec((response?.ok && response.headers.get('etag')) || '') ?? [];
  if (version !== VERSION) outdated.value = true;
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void noteVersion();
});

type Asked = Omit<RetryableRequest, 'path' | 'method'>;

/** A route that only reads. While the server's store or Temporal is away, it is asked again. */
export async function ask<Route extends keyof Answers & `GET ${string}`>(
  route: Route,
  ids: PathIds<Route>,
  asked: Asked = {},
): Promise<Answers[Route]> {
  for (;;) {
    try {
      return await callRoute(reading, route, ids, asked);
    } catch (error) {
      if (!isTransient(error)) throw error;
      online.value = false;
      await pauseFor(AGAIN_MS, asked.signal ?? never);
    }
  }
}

/** A route that changes something. `again`: true if a repetition changes nothing. */
export function act<Route extends keyof Answers>(
  route: Route,
  ids: PathIds<Route>,
  asked: Asked = {},
): Promise<Answers[Route]> {
  return callRoute(acting, route, ids, asked);
}

export function readFile(threadId: string, path: string): Promise<ArrayBuffer> {
  return requestFile(reading, threadId, path);
}

/** Uploads a file to a path of the thread. */
export async function upload(threadId: string, path: string, file: File): Promise<void> {
  const headers = { 'content-type': file.type || 'application/octet-stream' };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const asked = { query: { path }, headers, bytes, again: true, withinMs: UPLOAD_TIMEOUT_MS };
  await act('PUT /v1/threads/{threadId}/file', { threadId }, asked);
}
