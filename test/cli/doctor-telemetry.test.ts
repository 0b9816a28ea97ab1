/** What `everthread doctor` says of telemetry, by what really listens at the endpoint. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttp2 } from 'node:http2';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { Check } from '../../src/cli/doctor/check.ts';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { receiveOtlp } from '../support/otlp-receiver.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { cliProject, HELPER } from './support.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAM = join(ROOT, 'test', 'support', 'check-telemetry-process.ts');

type Env = Readonly<Record<string, string>>;

function project(files: Env = {}, installed = true): string {
  const folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER as string, 'doctor-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  if (installed) {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(ROOT, 'node_modules', '@opentelemetry'), join(folder, 'node_modules', '@opentelemetry'));
  }
  return folder;
}

async function check(env: Env, folder = project()): Promise<{ check: Check | null; ms: number }> {
  const settings = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none', ...env };
  const { stdout } = await promisify(execFile)(process.execPath, [...PROGRAM_OPTIONS, PROGRAM, folder], {
    env: { ...process.env, ...settings },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) as string);
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A receiver of gRPC: HTTP/2 without TLS. */
async function receiveGrpc(status = 0): Promise<string> {
  const server = createHttp2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }));
    stream.resume().end(Buffer.alloc(5));
  });
  closeAfterTest(async () => void server.close());
  return listen(server);
}

async function receiveHttp(status = 200, only?: string) {
  const seen: (string | undefined)[] = [];
  const received = await receiveOtlp((response) => {
    seen.push(response.req.url);
    response.writeHead(only === undefined || response.req.url === only ? status : 404).end('{}');
  });
  closeAfterTest(received.close);
  return { url: received.url.replace('/v1/traces', ''), seen };
}

async function listenTcp(onConnection: (socket: import('node:net').Socket) => void): Promise<string> {
  const server = createTcp(onConnection);
  closeAfterTest(async () => void server.close());
  return listen(server);
}

const SDK_FILE = (settings: string) => `
  import { NodeSDK } from '@opentelemetry/sdk-node';
  import { ThreadIdGenerator } from 'everthread/otel';
  new NodeSDK({ ${settings} }).start();
`;

describe("the doctor's check of telemetry", () => {
  it('exports one span, and names the endpoint that took it', async () => {
    const { url, seen } = await receiveHttp();
    const { check: found } = await check({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    expect(found).toEqual({ name: 'telemetry', status: 'ok', message: `${url}/v1/traces took one span` });
    expect(seen).toEqual(['/v1/traces']);
  });

  it('exports one span over gRPC', async () => {
    const url = await receiveGrpc();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect((await check(env)).check).toMatchObject({ status: 'ok', message: `${url}/ took one span` });
  });

  it('is left out if OpenTelemetry is not set up', async () => {
    expect((await check({})).check).toBeNull();
  });

  it('warns of an endpoint without an SDK, and of a file that registers none', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    expect((await check(env, project({}, false))).check).toMatchObject({
      status: 'warn',
      next: expect.stringContaining('npm install @opentelemetry/sdk-node'),
    });
    expect((await check({}, project({ 'otel.mjs': 'export {};' }))).check).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('registers no SDK'),
    });
    expect((await check({}, project({ 'otel.mjs': 'throw new Error("no exporter")' }))).check).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/otel\.mjs cannot be loaded.*no exporter/),
    });
  });

  it('warns of an SDK without the id generator, whose span arrives', async () => {
    const { url, seen } = await receiveHttp();
    const folder = project({ 'otel.ts': SDK_FILE('') });
    const { check: found } = await check({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, folder);
    expect(found).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('took one span, but the SDK makes ids of its own'),
      next: expect.stringContaining('new ThreadIdGenerator()'),
    });
    expect(seen).toHaveLength(1);
  });

  it('warns if every trace is sampled out, and finds one that is not if a part is', async () => {
    const { url, seen } = await receiveHttp();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
    expect((await check({ ...env, OTEL_TRACES_SAMPLER: 'always_off' })).check).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('OTEL_TRACES_SAMPLER is always_off'),
    });
    expect(seen).toHaveLength(0);
    const part = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.05' };
    expect((await check({ ...env, ...part })).check).toMatchObject({ status: 'ok' });
  });

  it.each([
    ['gRPC, and the exporter HTTP', 'http/protobuf', () => receiveGrpc(), 'OTEL_EXPORTER_OTLP_PROTOCOL=grpc'],
    [
      'HTTP, and the exporter gRPC',
      'grpc',
      () => receiveHttp().then(({ url }) => url),
      'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    ],
  ])('tells that the endpoint speaks %s', async (what, protocol, receive, next) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await receive(), OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
    expect((await check(env)).check).toMatchObject({
      status: 'fail',
      message: expect.stringContaining(`speaks ${what}`),
      next: expect.stringContaining(next),
    });
  });

  it.each([
    [401, 'does not accept the key', 'OTEL_EXPORTER_OTLP_HEADERS'],
    [404, 'another path', 'gets /v1/traces added'],
    [400, 'answers 400', 'log of the receiver'],
    [503, 'in trouble or full', 'Threads do not wait'],
    [500, 'in trouble or full', 'Threads do not wait'],
  ])('tells that the endpoint answers %i', async (status, message, next) => {
    const { url } = await receiveHttp(status);
    expect((await check({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).check).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(new RegExp(`answers ${status}.*${message}|${message}`)),
      next: expect.stringContaining(next),
    });
  });

  it('tells that nothing listens, that nothing answers, and that another protocol is spoken, in bounded time', async () => {
    const [port] = await findFreePorts(1);
    const refused = check({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    const silent = check({ OTEL_EXPORTER_OTLP_ENDPOINT: await listenTcp((socket) => void socket.resume()) });
    const other = check({
      OTEL_EXPORTER_OTLP_ENDPOINT: await listenTcp(
        (socket) => void socket.on('error', () => undefined).end(),
      ),
    });
    const found = await Promise.all([refused, silent, other]);
    expect(found.map(({ check: each }) => each?.message)).toEqual([
      expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
      expect.stringContaining('takes the connection and does not answer'),
      expect.stringContaining('neither gRPC nor HTTP'),
    ]);
    // Bounded: five seconds for the SDK, three for each of two questions, and what a busy machine adds.
    for (const { check: each, ms } of found) {
      expect(each?.status).toBe('fail');
      expect(ms).toBeLessThan(60_000);
    }
  });

  it('is the last line of the command, and in its JSON', async () => {
    const { url } = await receiveHttp(403);
    const whole = await cliProject(HELPER);
    closeAfterTest(whole.remove);
    symlinkSync(
      join(ROOT, 'node_modules', '@opentelemetry'),
      join(whole.folder, 'node_modules', '@opentelemetry'),
    );
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_METRICS_EXPORTER: 'none' };
    const { code, stdout } = await whole.run(['doctor', '--json'], { env });
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
    expect(checks.at(-1)).toMatchObject({ name: 'telemetry', status: 'fail' });
    expect([code, ok]).toEqual([1, false]);
  });
});
