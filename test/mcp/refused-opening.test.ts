/** A connection that a server over HTTP refuses: the failure has its answer and address, and no secret. */
import type { RequestListener } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { listTools, withConnection } from '../../src/remote/mcp/index.ts';
import { serve } from '../support/rude-mcp.ts';

const SECRET = 'tok-4711-secret';

async function refusal(answer: RequestListener): Promise<string> {
  const reach = await serve(answer);
  if (reach.by !== 'http') throw new Error('It is not served over HTTP.');
  const url = `${reach.url}?key=${SECRET}`;
  const headers = { authorization: `Bearer ${SECRET}` };
  const signal = new AbortController().signal;
  const terms = { signal, timeoutMs: 120_000 };
  return withConnection(
    { threadId: 't', reach: { ...reach, url, headers }, connectTimeoutMs: 120_000 },
    signal,
    (connection) => listTools(connection, new Set(['do']), terms),
  ).then(
    () => 'listed',
    (error) => `${error.code}: ${error.message}`,
  );
}

const answers =
  (status: number, body = '', type = 'application/json'): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': type }).end(body);
  };

describe('a server over HTTP that refuses a connection', () => {
  it.each<[string, RequestListener, RegExp]>([
    ['with 401', answers(401), /^McpUnavailable: .*401.* at http:\/\/127\.0\.0\.1:\d+\/mcp/],
    ['with 403', answers(403), /403.* at http:/],
    ['with 404', answers(404, `Not ${SECRET}.`, 'text/plain'), /404.* at http:.*Not \[secret\]\./],
    ['with 500', answers(500), /500.* at http:/],
    ['with a page', answers(200, '<html>Sign in</html>', 'text/html'), /200, with text\/html, at http:/],
    ['with nothing', answers(200), /200.* at http:/],
    ['by hanging up', (request) => request.socket.destroy(), /^McpUnavailable: .* at http:/],
  ])('is reported %s', async (_what, answer, told) => {
    const message = await refusal(answer);
    expect(message).toMatch(told);
    expect(message).not.toMatch(/undefined|\[object|tok-4711/);
  });
});
