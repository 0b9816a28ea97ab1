/**
 * Serves `/healthz`, `/readyz` and `/metrics` of a worker. The command's own process serves them and queries the worker
 * process, so they answer while that is busy, has crashed, or is restarting.
 * - From the first request to stop, `/readyz` reports not ready. All paths are served until the worker has handed
 *   everything over.
 * - At a loopback address only requests to loopback host names are served: a foreign web page whose name resolves
 *   here gets 403.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readConfiguration } from '../../configuration.ts';
import { isLoopback } from '../../server/api/access.ts';
import type { SupervisorWatch } from '../../supervisor/index.ts';
import { type ListenAddress, listenAt, readListenAddress } from './listen-address.ts';

export interface ServedHealth {
  /** `http://host:port`. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HealthOptions {
  readonly watch: SupervisorWatch;
  /** The request to stop. */
  readonly stop: AbortSignal;
  /** `host:port`, or `off`. Default: the address in the settings. */
  readonly address?: string | undefined;
}

/** Default address, as of OpenTelemetry's Prometheus exporters. If its port is taken, a free port is used. */
const DEFAULT_ADDRESS = { host: '127.0.0.1', port: 9464 } as const;
const SERVED = { what: 'health and metrics', setting: '--health or EVERTHREAD_HEALTH, or "off"' };
const ANSWER_WITHIN_MS = 3000;

/** Resolves to undefined if it is off. Throws `InvalidConfiguration` if the address is invalid or taken. */
export async function serveHealth({
  watch,
  stop,
  address,
}: HealthOptions): Promise<ServedHealth | undefined> {
  const given = address ?? readConfiguration().health;
  if (given === 'off') return undefined;
  const asked = given === undefined ? undefined : readListenAddress(given, SERVED);
  const place = asked ?? DEFAULT_ADDRESS;
  const server = createServer((request, response) => {
    void answerRequest({ watch, stop, place }, request, response);
  });
  const listen = (at: ListenAddress) => listenAt(server, at, SERVED);
  const { port } = asked
    ? await listen(asked)
    : await listen(DEFAULT_ADDRESS).catch(() => listen({ ...DEFAULT_ADDRESS, port: 0 }));
  return {
    url: `http://${place.host.includes(':') ? `[${place.host}]` : place.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Served extends Pick<HealthOptions, 'watch' | 'stop'> {
  readonly place: ListenAddress;
}

async function answerRequest(
  served: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://worker');
  // Only loopback host names are served.
  if (isLoopback(served.place.host) && !isLoopback(hostName(request.headers.host)))
    return send(response, 403, { error: 'This address only answers requests from this machine.' });
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, { error: 'Only GET is allowed.' });
  switch (pathname) {
    case '/healthz':
      return send(response, 200, { status: 'ok' });
    case '/readyz': {
      const state = await readState(served);
      return send(response, state.status === 'ready' ? 200 : 503, state);
    }
    case '/metrics':
      return sendMetrics(served, response);
    default:
      return send(response, 404, { error: 'The paths are /healthz, /readyz and /metrics.' });
  }
}

const hostName = (host = '') => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

interface State {
  readonly status: 'ready' | 'unavailable' | 'starting' | 'stopping';
  readonly store: boolean;
  readonly temporal: boolean;
}

async function readState({ watch, stop }: Served): Promise<State> {
  // Not ready, without querying the worker.
  if (stop.aborted || watch.phase === 'stopping')
    return { status: 'stopping', store: false, temporal: false };
  if (watch.phase !== 'ready') return { status: 'starting', store: false, temporal: false };
  const answer = await watch.ask('readiness', ANSWER_WITHIN_MS);
  const { ready, store, temporal } = (answer ?? { ready: false, store: false, temporal: false }) as {
    ready: boolean;
    store: boolean;
    temporal: boolean;
  };
  if (stop.aborted) return { status: 'stopping', store, temporal };
  return { status: ready ? 'ready' : 'unavailable', store, temporal };
}

async function sendMetrics({ watch, stop }: Served, response: ServerResponse): Promise<void> {
  const answer = await watch.ask('metrics', ANSWER_WITHIN_MS);
  const own = supervisorMetrics({ watch, answers: typeof answer === 'string', stopping: stop.aborted });
  response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
  response.end(typeof answer === 'string' ? `${answer}\n${own}` : own);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(`${JSON.stringify(body)}\n`);
}

interface Supervised {
  readonly watch: Pick<SupervisorWatch, 'phase' | 'falls'>;
  /** True if the worker process has just answered. */
  readonly answers: boolean;
  readonly stopping: boolean;
}

/** What this process knows of the worker process, for Prometheus: a few lines, which need no library here. */
function supervisorMetrics({ watch, answers, stopping }: Supervised): string {
  const ready = watch.phase === 'ready' && !stopping;
  const falls = [...watch.falls].map(([how, count]) => [`{how="${escapeLabel(how)}"}`, count] as const);
  return [
    ...metric('worker_up', 'gauge', 'Whether the worker process answers', [['', Number(answers)]]),
    ...metric('worker_ready', 'gauge', 'Whether it accepts work: it has started, and is not stopping', [
      ['', Number(ready)],
    ]),
    ...metric(
      'worker_process_falls_total',
      'counter',
      'Worker processes of this command that ended unexpectedly and were restarted',
      falls,
    ),
    '',
  ].join('\n');
}

function metric(
  name: string,
  type: string,
  help: string,
  values: readonly (readonly [string, number])[],
): string[] {
  const full = `everthread_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...values.map(([labels, value]) => `${full}${labels} ${value}`),
  ];
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
