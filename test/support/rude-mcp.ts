/**
 * Runs harmful MCP servers (test/mcp/rude-server.mjs) as programs and over HTTP, and returns the outcome of calling
 * them.
 */
import { spawn } from 'node:child_process';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { McpReach } from '../../src/core/author/mcp-server.ts';
import {
  callTool,
  closeConnections,
  isMcpFailure,
  type ListedTool,
  type ListedTools,
  listTools,
  withConnection,
} from '../../src/remote/mcp/index.ts';

const RUDE = join(import.meta.dirname, '../mcp/rude-server.mjs');

const closers: (() => void)[] = [];
afterEach(async () => {
  await closeConnections();
  for (const close of closers.splice(0)) close();
});

export type Met = {
  readonly code: string;
  readonly text: string;
  readonly listed?: readonly ListedTool[];
  readonly left?: ListedTools['left'];
};

/** Milliseconds for what must succeed, however busy the machine is. */
const PATIENCE_MS = 120_000;

/** Lists the tools of a server and calls one, for `timeoutMs` at most; returns the resulting code. */
export async function meet(reach: McpReach, timeoutMs = PATIENCE_MS, wanted = ['do']): Promise<Met> {
  const signal = new AbortController().signal;
  try {
    return await withConnection(
      { threadId: 't', reach, connectTimeoutMs: PATIENCE_MS },
      signal,
      async (connection) => {
        const list = { signal, timeoutMs: PATIENCE_MS };
        const { tools: listed, left } = await listTools(connection, new Set(wanted), list);
        const answer = await callTool(connection, { name: 'do', arguments: {} }, { signal, timeoutMs });
        if (answer.kind === 'asks') return { code: 'asks', text: '' };
        const { status, result, error, error_code: code } = answer.result;
        return {
          code: status === 'success' ? 'success' : (code ?? 'none'),
          text: result ?? error ?? '',
          listed,
          left,
        };
      },
    );
  } catch (error) {
    if (isMcpFailure(error)) return { code: error.code, text: error.message };
    throw error;
  }
}

export const program = (how: string, ...more: string[]): McpReach => ({
  by: 'stdio',
  command: process.execPath,
  args: [RUDE, how, ...more],
  env: {},
});

export async function serve(listener: RequestListener): Promise<McpReach> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { by: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: { authorization: 'Bearer kept' } };
}

/** Serves the same program over HTTP: its output answers each request, as a stream. */
export async function serveProgram(how: string, ...more: string[]): Promise<McpReach> {
  const child = spawn(process.execPath, [RUDE, how, ...more], { stdio: ['pipe', 'pipe', 'ignore'] });
  closers.push(() => child.kill('SIGKILL'));
  let answering: ServerResponse | undefined;
  let line = '';
  // Forwarded as it arrives: some outputs never end.
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
      // A chunk can hold many lines; an earlier one may have paused the output already.
      if (!isFull || child.stdout.isPaused()) continue;
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
