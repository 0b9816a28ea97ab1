/** What listens at an address that no connection to Temporal can be made to. */
import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { registryFrom } from '../../src/definitions/index.ts';
import { findReason } from '../../src/temporal-unreachable.ts';
import { createWorker } from '../../src/worker/index.ts';
import { type CliProject, cliProject } from '../cli/support.ts';
import { makeCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';

const temporal = process.env.TEMPORAL_ADDRESS ?? '';
const certificate = makeCertificate();
const ca = Buffer.from(certificate.cert);

function forward(socket: Socket): void {
  const [host, port] = temporal.split(':');
  const onward = connect({ host, port: Number(port) });
  socket.pipe(onward).pipe(socket);
  for (const each of [socket, onward])
    each.on('error', () => onward.destroy()).on('close', () => socket.destroy());
}

const open = new Set<Socket>();
const servers = {
  web: createWebServer((_request, response) => response.end('hello')),
  tls: createTlsServer({ ...certificate, ALPNProtocols: ['h2'] }, forward),
  silent: createServer((socket) => socket.on('error', () => socket.destroy())),
} satisfies Record<string, Server>;

beforeAll(async () => {
  for (const server of Object.values(servers)) {
    server.on('connection', (socket: Socket) => open.add(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
});
afterAll(() => {
  for (const server of Object.values(servers)) server.close();
  for (const socket of open) socket.destroy();
});

function at(name: keyof typeof servers): string {
  return `127.0.0.1:${(servers[name].address() as { readonly port: number }).port}`;
}

const TLS = /^it speaks TLS: set TEMPORAL_TLS=true$/;
const NO_TLS = /^it does not speak TLS: unset TEMPORAL_TLS… and TEMPORAL_API_KEY/;
const WEB = /^a web server answers there, and not the gRPC of Temporal$/;

describe('what listens where Temporal should', () => {
  it.each([
    ['a web server', () => at('web'), undefined, WEB],
    ['a web server, asked with TLS', () => at('web'), true, WEB],
    ['TLS, asked without', () => at('tls'), undefined, TLS],
    [
      'TLS with a certificate of unknown authority',
      () => at('tls'),
      true,
      /^its certificate is refused \(.+\): name its authority by TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    ['Temporal without TLS, asked with it', () => temporal, true, NO_TLS],
  ])('is told: %s', async (_what, address, tls, reason) => {
    expect(await findReason({ address: address(), tls })).toMatch(reason);
  });

  it.each([
    ['Temporal', () => temporal, undefined],
    ['Temporal behind TLS, whose authority is named', () => at('tls'), { serverRootCACertificate: ca }],
    ['what is silent', () => at('silent'), undefined],
    ['nothing', () => '127.0.0.1:1', undefined],
  ])('is nothing to tell: %s', async (_what, address, tls) => {
    expect(await findReason({ address: address(), tls })).toBeUndefined();
  });
});

describe('a program that cannot connect', () => {
  let project: CliProject;
  beforeAll(async () => {
    project = await cliProject({ 'agents/agents/_none.ts': '' });
  });
  afterAll(() => project.remove());

  it.each([['worker'], ['api', '--port', '0'], ['dev'], ['chat', 'helper', '--later']])(
    'says what answers there: everthread %s',
    async (...args) => {
      const { code, stderr } = await project.start(args, { TEMPORAL_ADDRESS: at('tls') }).ended;
      expect(stderr).toMatch(
        /^TemporalUnavailable: .* cannot be used: it speaks TLS: set TEMPORAL_TLS=true\./m,
      );
      expect(code).toBe(1);
    },
  );

  it('says so in code: a client and a worker', async () => {
    const { TEMPORAL_ADDRESS: usual } = process.env;
    process.env.TEMPORAL_ADDRESS = at('web');
    try {
      const refusal = {
        code: 'TemporalUnavailable',
        message: expect.stringMatching(/a web server answers there/),
      };
      await expect(RuntimeClient.connect()).rejects.toMatchObject(refusal);
      const worker = createWorker({ projectDir: project.folder, registry: registryFrom({}) });
      await expect(worker).rejects.toMatchObject(refusal);
    } finally {
      process.env.TEMPORAL_ADDRESS = usual;
    }
  });

  it('starts a server elsewhere if a web server has the port of dev, and says that', async () => {
    const port = at('web').split(':')[1];
    const dev = project.start(['dev'], { TEMPORAL_ADDRESS: undefined, EVERTHREAD_DEV_PORT: port });
    const told = `The service at ${at('web')} cannot be used: a web server answers there`;
    await eventually('what has the port is told', () => dev.stderr().includes(told), 30_000);
    await eventually('it runs', () => dev.stdout().includes('Everthread runs.'), 60_000);
    dev.process.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
  });

  it('refuses a namespace that does not exist before it asks for a message', async () => {
    const env = { TEMPORAL_NAMESPACE: 'nope' };
    const { code, stdout, stderr } = await project.start(['chat', 'helper', '--later'], env).ended;
    expect(stderr).toMatch(
      /^TemporalUnavailable: .*no namespace "nope"\. Set TEMPORAL_NAMESPACE, or create it/m,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});
