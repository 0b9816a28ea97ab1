/**
 * The HTTP API on both stores: requests per second and latency of get, list, a page of messages and send, in a small
 * store, in one of 100,000 threads, and on a thread of 50,000 messages; they should not depend on the size.
 * `node_modules/.bin/node bench/http.ts [--json FILE] [--quick] [--only sqlite|postgres]...`
 * Clients send requests concurrently over local sockets, and share the processors with the server. Threads and messages
 * that only fill the store are copies of rows that the store wrote itself.
 */
import { serveApi } from '../src/cli/serve/serve-api.ts';
import { createApi } from '../src/server/api/create-api.ts';
import { openPostgresBench } from './support/postgres-bench.ts';
import { type Line, quantile, readOptions, report } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';
import { type RowCopies, rowCopies } from './support/row-copies.ts';

const { json, quick, only } = readOptions();
const THREADS = quick ? 2000 : 100_000;
const MESSAGES = quick ? 1000 : 50_000;
const REQUESTS = quick ? 50 : 400;
/** Number of sends; each is several writes of the server and of the store. */
const SENDS = quick ? 20 : 100;
/** Number of threads, and of messages, in the small store; enough to fill a page. */
const FEW = 100;
const CLIENTS = 8;
/** Most that a request to a large store may cost, as a multiple of a small one's cost. */
const FLAT = 1.5;
/** Most milliseconds for a list or a count of many threads. */
const FIGURES_MS = 20;
/** Copies of the newest microseconds: each is one older than the one before. */
const FEW_COPIES = 5000;

quietRuntime();
const lines: Line[] = [];
for (const engine of ['sqlite', 'postgres'] as const)
  if (only.length === 0 || only.includes(engine)) lines.push(...(await measureEngine(engine)));
report('The HTTP API', lines, json);

async function measureEngine(engine: 'sqlite' | 'postgres'): Promise<Line[]> {
  const postgres = engine === 'postgres' ? await openPostgresBench() : null;
  try {
    const rig = await openRig('memory', undefined, undefined, postgres?.address);
    const served = await serveApi(createApi({ client: rig.client }), { host: '127.0.0.1', port: 0 });
    try {
      const copies = await rowCopies(postgres?.address ?? rig.folder);
      try {
        return await measureStore(engine, rig, served.url, copies);
      } finally {
        await copies.close();
      }
    } finally {
      await served.close();
      await rig.close();
    }
  } finally {
    await postgres?.close();
  }
}

type Asked = Readonly<Record<string, { readonly count: number; readonly ask: () => Promise<void> }>>;

async function measureStore(engine: string, rig: Rig, url: string, copies: RowCopies): Promise<Line[]> {
  const threadId = await rig.turn('once', 1);
  const spoken = await rig.turn('once', 1);
  await rig.client.waitForIdle(threadId);
  const { updatedAt } = await rig.client.getThread(threadId);
  const get = (path: string) => ({ count: REQUESTS, ask: () => request(`${url}${path}`) });
  const lists = {
    'list 50 threads': get('/v1/threads'),
    'list 50 threads of an agent': get('/v1/threads?agent=once'),
    'list 50 threads by creation': get('/v1/threads?sort=created'),
    'list 50 threads by cost': get('/v1/threads?sort=cost'),
    'list 50 threads by tokens': get('/v1/threads?sort=tokens'),
  };
  const figures = {
    'list 50 threads that wait longest': get('/v1/threads?sort=waiting'),
    'list 50 failed threads': get('/v1/threads?status=failed'),
    'list 50 threads of an organisation by cost': get('/v1/threads?sort=cost&organizationId=organization-3'),
    'list 50 threads of a user by cost': get('/v1/threads?sort=cost&userId=user-3'),
    'count all threads': get('/v1/threads/counts'),
    'count threads of a status': get('/v1/threads/counts?status=idle'),
    'count threads of an agent': get('/v1/threads/counts?agent=once'),
    'count threads of an organisation': get('/v1/threads/counts?organizationId=organization-3'),
    'count threads of a user': get('/v1/threads/counts?userId=user-3'),
    'count threads by status and agent': get('/v1/threads/counts?by=status,agent'),
    'count threads with a tag': get('/v1/threads/counts?tag=tag-3'),
    'count threads of a time': get(`/v1/threads/counts?updatedAfter=${updatedAt - FEW_COPIES}`),
    'read no changes': { count: REQUESTS, ask: await changesReader(url) },
  };
  const reads = {
    'get a thread': get(`/v1/threads/${threadId}`),
    'list its 50 newest messages': get(`/v1/threads/${threadId}/messages?limit=50&order=desc`),
  };
  const send = {
    'send a message': {
      count: SENDS,
      ask: () => request(`${url}/v1/threads/${spoken}/messages`, { content: 'hello', silent: true }),
    },
  };
  await copies.threads(threadId, 1, FEW);
  await copies.messages(threadId, 1, FEW);
  const small = await measure({ ...reads, ...lists, ...send });
  await rig.client.waitForIdle(spoken, { timeoutMs: 600_000 });
  await copies.threads(threadId, FEW + 1, THREADS);
  const many = await measure({ ...reads, ...lists, ...send });
  const all = await measure(figures, 1);
  await copies.messages(threadId, FEW + 1, MESSAGES);
  const long = await measure(reads);
  return [
    ...linesOf(`${engine}, ${FEW} threads`, small),
    ...linesOf(`${engine}, ${THREADS} threads`, many, small),
    ...figureLines(`${engine}, ${THREADS} threads`, all),
    ...linesOf(`${engine}, ${MESSAGES} messages`, long, small),
  ];
}

interface Measured {
  readonly perSecond: number;
  readonly times: readonly number[];
}

/** Asks for the changes behind the present end of the feed. */
async function changesReader(url: string): Promise<() => Promise<void>> {
  const { cursor } = (await (await fetch(`${url}/v1/threads/changes`)).json()) as { cursor: string };
  return () => request(`${url}/v1/threads/changes?cursor=${encodeURIComponent(cursor)}`);
}

async function measure(asked: Asked, clients = CLIENTS): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>();
  for (const [what, { count, ask }] of Object.entries(asked)) {
    await sideBySide(Math.ceil(count / 10), ask, clients);
    const begun = performance.now();
    const times = await sideBySide(count, ask, clients);
    measured.set(what, { perSecond: (count / (performance.now() - begun)) * 1000, times });
  }
  return measured;
}

async function sideBySide(count: number, ask: () => Promise<void>, clients: number): Promise<number[]> {
  const times: number[] = [];
  let begun = 0;
  const client = async () => {
    while (begun < count) {
      begun += 1;
      const at = performance.now();
      await ask();
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times;
}

async function request(url: string, body?: object): Promise<void> {
  const response = await fetch(url, {
    ...(body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
}

/** What a page asks for once in a while: one client. */
function figureLines(place: string, measured: Map<string, Measured>): Line[] {
  return [...measured].map(([what, { times }]) => ({
    what: `${what}: ${place}, p50`,
    value: quantile(times, 0.5),
    unit: 'ms',
    atMost: FIGURES_MS,
    // Counts are remembered for a moment: the slowest one was made.
    note: `slowest ${Math.max(...times).toFixed(1)} ms, n ${times.length}`,
  }));
}

function linesOf(place: string, measured: Map<string, Measured>, small?: Map<string, Measured>): Line[] {
  return [...measured].flatMap(([what, { perSecond, times }]) => {
    const p50 = quantile(times, 0.5);
    const before = small?.get(what);
    return [
      { what: `${what}: ${place}`, value: perSecond, unit: 'requests/s', note: `${CLIENTS} clients` },
      {
        what: `${what}: ${place}, p50`,
        value: p50,
        unit: 'ms',
        note: `p99 ${quantile(times, 0.99).toFixed(1)} ms, n ${times.length}`,
      },
      ...(before
        ? [
            {
              what: `${what}: ${place}, beside few`,
              value: p50 / quantile(before.times, 0.5),
              unit: 'times',
              atMost: FLAT,
            },
          ]
        : []),
    ];
  });
}
