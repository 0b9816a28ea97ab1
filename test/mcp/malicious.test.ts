/**
 * A malicious MCP server can do whatever it likes: its caller gets a code within the time limit, and its process is
 * gone.
 */
import { mkdtemp, readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { McpReach } from '../../src/core/author/mcp-server.ts';
import { eventually } from '../support/eventually.ts';
import { meet, program, serve, serveProgram } from '../support/rude-mcp.ts';

const WAYS: readonly (readonly [how: string, code: string])[] = [
  ['dies', 'McpUnavailable'],
  ['speaks no JSON', 'McpInvalid'],
  ['answers another id', 'McpInvalid'],
  ['says a line without an end', 'McpTooLarge'],
  ['says messages without an end', 'McpTooLarge'],
  ['answers ten megabytes', 'McpTooLarge'],
  ['answers two megabytes', 'success'],
  ['answers what is no result', 'McpInvalid'],
  ['answers data without an end', 'success'],
  ['has a hundred files', 'success'],
  ['lists forever', 'McpTooLarge'],
  ['lists a tool twice', 'success'],
  ['lists what is no tool', 'success'],
  ['has a schema without an end', 'success'],
  ['has a huge schema', 'success'],
  ['has no such tool', 'McpToolMissing'],
  ['calls it an error', 'McpToolError'],
  ['behaves', 'success'],
];

/** What a list has of the tool "do": one that is malformed costs only itself. */
const LEFT: readonly (readonly [how: string, why: string | undefined])[] = [
  ['lists a tool twice', 'it is listed twice'],
  ['lists what is no tool', undefined],
  ['has a schema without an end', 'its schema is too large, or too deep'],
  ['has a huge schema', 'its schema is too large, or too deep'],
  ['has no schema', 'it has no schema of its arguments'],
  ['takes a text', 'its arguments are no object'],
  ['takes one of two texts', 'its arguments are no object'],
];

/** Whatever the server sends, a call has one time limit, which nothing restarts. */
const SLOW = ['says nothing', 'says a byte now and then', 'tells progress and no result'];

describe('a program that', () => {
  it.each(WAYS)('%s ends with %s', async (how, code) => {
    expect(await meet(program(how))).toMatchObject({ code });
  });

  it.each(LEFT)('%s keeps its other tools, and the dropped ones are named', async (how, why) => {
    const { listed, left } = await meet(program(how), undefined, ['do', 'other']);
    expect(left).toEqual(why === undefined ? [] : [{ tool: 'do', why }]);
    expect(listed?.map(({ name }) => name)).toEqual(['other']);
  });

  it.each(['describes with numbers', 'has odd properties', 'says no type'])(
    '%s is still listed',
    async (how) => {
      const { listed, left } = await meet(program(how));
      expect([left, listed?.map(({ name }) => name)]).toEqual([[], ['do']]);
    },
  );

  it('declares structured output and returns none has its text as the result, with a note', async () => {
    expect(await meet(program('lacks its declared output'))).toMatchObject({
      code: 'success',
      text: 'done\n(The structured output that the tool declares is missing.)',
    });
  });

  it.each(SLOW)('%s ends with McpTimeout', async (how) => {
    expect(await meet(program(how), 300)).toMatchObject({ code: 'McpTimeout' });
  });

  it('ignores its termination signal is killed', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'mcp-')), 'pid');
    expect(await meet(program('ignores its end', file), 300)).toMatchObject({ code: 'McpTimeout' });
    const pid = Number(await readFile(file, 'utf8'));
    expect(pid).toBeGreaterThan(0);
    await eventually('the end of the process', async () => !isAlive(pid) || undefined);
  });

  it('requests a model is told that there is none', async () => {
    expect(await meet(program('asks us for a model'))).toMatchObject({
      code: 'success',
      text: 'told -32601',
    });
  });

  it('does not exist ends with McpUnavailable', async () => {
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

/** Each message of a program is bounded; of an address, the whole answer is. */
const ADDRESS_WAYS = WAYS.map(
  ([how, code]) => [how, how === 'answers ten megabytes' ? 'success' : code] as const,
);

describe('an address that', () => {
  it.each(ADDRESS_WAYS)('%s ends with %s', async (how, code) => {
    expect(await meet(await serveProgram(how))).toMatchObject({ code });
  });

  it.each(SLOW)('%s ends with McpTimeout', async (how) => {
    expect(await meet(await serveProgram(how), 300)).toMatchObject({ code: 'McpTimeout' });
  });

  it('sends no headers ends with McpTimeout', async () => {
    let asked = 0;
    const reach = await serve((request, response) => {
      let body = '';
      request.on('data', (piece) => (body += piece));
      // The server behaves until the call.
      request.on('end', () => {
        asked += 1;
        const { id, method, params } = JSON.parse(body || '{}');
        if (method === 'tools/call') return;
        const results: Record<string, unknown> = {
          initialize: {
            protocolVersion: params?.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'x', version: '1' },
          },
          'tools/list': { tools: [{ name: 'do', inputSchema: { type: 'object' } }] },
        };
        if (id === undefined) return void response.writeHead(202).end();
        const told = results[method]
          ? { result: results[method] }
          : { error: { code: -32601, message: 'no' } };
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
      });
    });
    expect(await meet(reach, 300)).toMatchObject({ code: 'McpTimeout' });
    expect(asked).toBeGreaterThan(2);
  });

  it.each([301, 302, 307, 308])(
    'answers %d is not followed, and its headers are sent nowhere else',
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

  it('answers endlessly ends with McpTooLarge', async () => {
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

  it('sends a compressed endless answer ends with McpTooLarge', async () => {
    const folded = gzipSync(Buffer.alloc(64 << 20, 32));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const reach = await serve((_, response) => response.writeHead(200, headers).end(folded));
    expect(await meet(reach)).toMatchObject({ code: 'McpTooLarge' });
  });

  it.each<[string, RequestListener]>([
    [
      'is a page of the web',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi'),
    ],
    ['is forbidden', (_, response) => response.writeHead(403).end('no')],
  ])('%s ends with McpUnavailable', async (_title, listener) => {
    expect(await meet(await serve(listener))).toMatchObject({ code: 'McpUnavailable' });
  });
});
