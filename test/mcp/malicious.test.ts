/** A server of MCP may do whatever it likes: who calls it gets a code, within its time, and its process is gone. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { McpReach } from '../../src/core/author/mcp-server.ts';
import { callTool, closeConnections, isMcpFailure, listTools, withConnection } from '../../src/mcp/index.ts';
import { eventually } from '../support/eventually.ts';

const RUDE = join(import.meta.dirname, 'rude-server.mjs');

const closers: (() => void)[] = [];
afterEach(async () => {
  await closeConnections();
  for (const close of closers.splice(0)) close();
});

type Met = { readonly code: string; readonly text: string };

/** Lists its tools and calls one: the code of what came of it. */
async function meet(reach: McpReach, timeoutMs = 20_000): Promise<Met> {
  const signal = new AbortController().signal;
  try {
    return await withConnection(
      { threadId: 't', reach, connectTimeoutMs: 20_000 },
      signal,
      async (connection) => {
        const terms = { signal, timeoutMs };
        await listTools(connection, new Set(['do']), terms);
        const answer = await callTool(connection, { name: 'do', arguments: {} }, terms);
        if (answer.kind === 'asks') return { code: 'asks', text: '' };
        const { status, result, error, error_code: code } = answer.result;
        return { code: status === 'success' ? 'success' : (code ?? 'none'), text: result ?? error ?? '' };
      },
    );
  } catch (error) {
    if (isMcpFailure(error)) return { code: error.code, text: error.message };
    throw error;
  }
}

const program = (how: string, ...more: string[]): McpReach => ({
  by: 'stdio',
  command: process.execPath,
  args: [RUDE, how, ...more],
  env: {},
});

const WAYS: readonly (readonly [how: string, code: string])[] = [
  ['dies', 'McpUnavailable'],
  ['speaks no JSON', 'McpInvalid'],
  ['answers another id', 'McpInvalid'],
  ['says a line without an end', 'McpTooLarge'],
  ['says messages without an end', 'McpTooLarge'],
  ['answers ten megabytes', 'McpTooLarge'],
  ['answers two megabytes', 'McpTooLarge'],
  ['answers what is no result', 'McpInvalid'],
  ['answers data without an end', 'McpTooLarge'],
  ['has a hundred files', 'McpTooLarge'],
  ['lists forever', 'McpTooLarge'],
  ['lists a tool twice', 'McpInvalid'],
  ['lists what is no tool', 'McpInvalid'],
  ['has a schema without an end', 'McpTooLarge'],
  ['has a huge schema', 'McpTooLarge'],
  ['has no such tool', 'McpToolMissing'],
  ['calls it an error', 'McpToolError'],
  ['behaves', 'success'],
];

describe('a program that', () => {
  it.each(WAYS)('%s is met with %s', async (how, code) => {
    expect(await meet(program(how))).toMatchObject({ code });
  });

  it('says nothing is met with McpTimeout', async () => {
    expect(await meet(program('says nothing'), 300)).toMatchObject({ code: 'McpTimeout' });
  });

  it('ignores that it is to end is gone all the same', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'mcp-')), 'pid');
    expect(await meet(program('ignores its end', file), 300)).toMatchObject({ code: 'McpTimeout' });
    const pid = Number(await readFile(file, 'utf8'));
    expect(pid).toBeGreaterThan(0);
    await eventually('the end of the process', async () => !isAlive(pid) || undefined);
  });

  it('asks us for a model is told that there is none', async () => {
    expect(await meet(program('asks us for a model'))).toEqual({ code: 'success', text: 'told -32601' });
  });

  it('does not exist is met with McpUnavailable', async () => {
    const reach: McpReach = { by: 'stdio', command: '/no/such/program', args: [], env: {} };
    expect(await meet(reach)).toMatchObject({ code: 'McpUnavailable' });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function serve(listener: RequestListener): Promise<McpReach> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { by: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: { authorization: 'Bearer kept' } };
}

/** The same program behind an address: what it says is what each request is answered with, as a stream. */
async function serveProgram(how: string): Promise<McpReach> {
  const child = spawn(process.execPath, [RUDE, how], { stdio: ['pipe', 'pipe', 'ignore'] });
  closers.push(() => child.kill('SIGKILL'));
  let answering: ServerResponse | undefined;
  let line = '';
  // Told as it comes: some of it has no end.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const [n, piece] of text.split('\n').entries()) {
      if (n > 0) {
        answering?.write('\n\n');
        if (/"(result|error)"/.test(line)) answering?.end();
        line = '';
      }
      if (piece === '') continue;
      const isFull =
        answering?.writableEnded === false && !answering.write(line === '' ? `data: ${piece}` : piece);
      line = (line + piece).slice(0, 200);
      if (!isFull) continue;
      child.stdout.pause();
      answering?.once('drain', () => child.stdout.resume());
    }
  });
  child.on('exit', () => answering?.destroy());
  child.stdin.on('error', () => {});
  return serve(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    child.stdin.write(`${body}\n`);
    if (!('id' in JSON.parse(body))) return void response.writeHead(202).end();
    answering = response.writeHead(200, { 'content-type': 'text/event-stream' });
  });
}

describe('an address that', () => {
  it.each(WAYS)('%s is met with %s', async (how, code) => {
    expect(await meet(await serveProgram(how))).toMatchObject({ code });
  });

  it.each([301, 302, 307, 308])(
    'answers %d is not followed, and its headers go nowhere else',
    async (status) => {
      const heard: string[] = [];
      const inside = await serve((request, response) => {
        heard.push(String(request.headers.authorization));
        response.end('{}');
      });
      const to = inside.by === 'http' ? inside.url : '';
      const reach = await serve((_, response) => response.writeHead(status, { location: to }).end());
      expect(await meet(reach)).toMatchObject({ code: 'McpRedirect' });
      expect(heard).toEqual([]);
    },
  );

  it('answers without an end is met with McpTooLarge', async () => {
    const piece = Buffer.alloc(1 << 20, 'x');
    const reach = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    expect(await meet(reach)).toMatchObject({ code: 'McpTooLarge' });
  });

  it.each<[string, number, RequestListener]>([
    [
      'is a page of the web',
      20_000,
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi'),
    ],
    ['is forbidden', 20_000, (_, response) => response.writeHead(403).end('no')],
  ])('%s is met with McpUnavailable', async (_title, timeoutMs, listener) => {
    expect(await meet(await serve(listener), timeoutMs)).toMatchObject({ code: 'McpUnavailable' });
  });
});
